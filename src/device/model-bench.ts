/**
 * Measures a brain on this machine: opening it, reading a prompt, writing an answer. Figures are for
 * choosing a model, taken once; a machine that does something else meanwhile shows slower ones.
 *
 * Spec: docs/operating.md "Models".
 */
import { err, ok, type Result } from "../shared/result.ts";
import type { Model, ModelFailure } from "./model/port.ts";
import type { ModelBench, ModelError } from "./weights/port.ts";

/** Lines of the prompt: some 500 tokens, about a menu of twenty skills. */
const promptLines = 24;

/** Opens the model, asks it one thing, and closes it. */
export async function measureModel(
  open: () => Promise<Result<Model, ModelFailure>>,
  name: string,
  signal: AbortSignal,
): Promise<Result<ModelBench, ModelError>> {
  const started = performance.now();
  const opened = await open();
  const loadMs = performance.now() - started;
  if (!opened.ok) return unusable(name, opened.error.reason);
  await using model = opened.value;
  const asked = performance.now();
  let firstMs: number | undefined;
  const reply = await model.answer(
    {
      system: Array.from({ length: promptLines }, (_, line) => promptLine(line)).join("\n"),
      question: "Explain in a few sentences what a calendar is good for.",
      reason: "a measurement",
      task: "answer",
      history: [],
      onToken: () => void (firstMs ??= performance.now() - asked),
    },
    signal,
  );
  const allMs = performance.now() - asked;
  // An answer that is cut at its limit measures as well as one that ends.
  if (reply.type === "failed" && reply.cause !== "tokens") return unusable(name, reply.reason);
  const { promptTokens = 0, evaluatedTokens = 0, completionTokens = 0 } = reply.usage ?? {};
  const readMs = firstMs ?? allMs;
  return ok({
    name,
    loadMs: Math.round(loadMs),
    promptTokens,
    prefillRate: perSecond(evaluatedTokens, readMs),
    completionTokens,
    decodeRate: perSecond(Math.max(0, completionTokens - 1), allMs - readMs),
  });
}

function promptLine(line: number): string {
  return `- @skill-${line}: reads the notes of week ${line} and tells what is still open in them`;
}

/** Units: tokens per second, one decimal. */
function perSecond(tokens: number, ms: number): number {
  return ms <= 0 ? 0 : Math.round((tokens / ms) * 10_000) / 10;
}

function unusable(
  name: string,
  reason: string,
): { readonly ok: false; readonly error: ModelError } {
  return err({ type: "model-unusable", message: `${name} does not work here: ${reason}` });
}
