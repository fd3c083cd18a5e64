/**
 * An embedder on a GGUF file, in the same engine as the brain: one vector a text, of length 1.
 *
 * One text at a time, since the engine holds one sequence for it; an abort is heard between texts.
 * Spec: docs/agent.md "The engine".
 */
import type { LlamaEmbeddingContext, LlamaModel } from "node-llama-cpp";

import { err, ok, type Result } from "../../../shared/result.ts";
import type { Embedder } from "../embedder.ts";
import type { ModelFailure } from "../port.ts";
import { firstLine, unavailable } from "./binding.ts";
import { underEither } from "./either-signal.ts";
import { loadFile } from "./engine.ts";
import { createLine } from "./line.ts";
import { usableThreads } from "./threads.ts";

/** How an embedder is opened. */
export interface LlamaEmbedderOptions {
  readonly file: string;
  /** Under which its vectors are kept; default: the model's own name. */
  readonly name?: string;
  /** Default: what the machine and its quota allow. */
  readonly threads?: number;
}

/** Requests that wait or run; more are refused. */
const linePlaces = 32;
/** Longest text that is read; the rest of a longer one does not count. Units: tokens. */
const maxTextTokens = 256;

/** Opens an embedder. What is wrong with the engine or the file is said now. */
export async function openLlamaEmbedder({
  file,
  name,
  threads = usableThreads(),
}: LlamaEmbedderOptions): Promise<Result<Embedder, ModelFailure>> {
  const loaded = await loadFile({ file, threads });
  if (!loaded.ok) return loaded;
  const { model } = loaded.value;
  const contextSize = Math.min(maxTextTokens, model.trainContextSize);
  const context = await openContext(model, contextSize, threads);
  if (!context.ok) {
    await loaded.value[Symbol.asyncDispose]();
    return context;
  }
  const line = createLine(linePlaces);
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  return ok({
    name: name ?? model.fileInfo.metadata.general.name ?? "llama",
    dimensions: model.embeddingVectorSize,
    embed: async (texts, signal) => {
      const work = underEither([signal, ending.signal], (until) =>
        line(() => embedAll(context.value, model, { texts, contextSize }, until), until),
      );
      running = Promise.allSettled([running, work]);
      const reply = await work;
      const stopped = signal.aborted || ending.signal.aborted;
      return reply ?? { type: "failed", reason: waitingReason(stopped) };
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
      await context.value.dispose();
      await loaded.value[Symbol.asyncDispose]();
    },
  });
}

async function openContext(
  model: LlamaModel,
  contextSize: number,
  threads: number,
): Promise<Result<LlamaEmbeddingContext, ModelFailure>> {
  try {
    return ok(await model.createEmbeddingContext({ contextSize, threads }));
  } catch (cause) {
    return err(unavailable(`the model gives no vectors: choose an embedder (${firstLine(cause)})`));
  }
}

function waitingReason(aborted: boolean): string {
  return aborted
    ? "the embedder was stopped"
    : `the embedder is busy: ${linePlaces} requests are waiting, ask again when they are done`;
}

async function embedAll(
  context: LlamaEmbeddingContext,
  model: LlamaModel,
  { texts, contextSize }: { readonly texts: readonly string[]; readonly contextSize: number },
  signal: AbortSignal,
): ReturnType<Embedder["embed"]> {
  const vectors: Float32Array[] = [];
  try {
    for (const text of texts) {
      if (signal.aborted) return { type: "failed", reason: waitingReason(true) };
      // Tokens that frame the text, and one place that the engine keeps free.
      const tokens = model.tokenize(text).slice(0, contextSize - 3);
      const { vector } = await context.getEmbeddingFor(tokens);
      vectors.push(ofLengthOne(vector, model.embeddingVectorSize));
    }
  } catch (cause) {
    return { type: "failed", reason: `the model engine failed: ${firstLine(cause)}` };
  }
  return { type: "vectors", vectors };
}

/** A text of no tokens has no direction: its vector is all zeros, and close to nothing. */
function ofLengthOne(vector: readonly number[], dimensions: number): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0
    ? new Float32Array(dimensions)
    : Float32Array.from(vector, (value) => value / length);
}
