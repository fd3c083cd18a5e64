/**
 * The engine on real weights, where they were fetched: SmolLM2 for generating, MiniLM for meaning. What
 * runs on generated files is in engine.test.ts; here a model's own template and tokens count.
 */
import { expect, it } from "vitest";

import { openLlamaEmbedder } from "../../../../src/device/model/llama/llama-embedder.ts";
import { openLlamaModel } from "../../../../src/device/model/llama/llama-model.ts";
import { toolSet } from "../../../../src/device/skills/tools.ts";
import { modelFile } from "../../../support/model-files.ts";
import { planRequest, stepRequest } from "../../../support/model-requests.ts";

const smollm2 = await modelFile("smollm2", "the engine on SmolLM2");
const minilm = await modelFile("minilm", "the embedder on MiniLM");
const never = new AbortController().signal;
/** Real weights on a machine whose cores are taken: one thread, and time enough. */
const options = { timeout: 300_000 };

it.runIf(smollm2 !== undefined)(
  "SmolLM2 counts, plans from the menu, calls what is bound and is stopped",
  options,
  async () => {
    const opened = await openLlamaModel({ file: smollm2 ?? "", threads: 1, replyTokens: 48 });
    if (!opened.ok) throw new Error(opened.error.reason);
    await using model = opened.value;
    expect(model.countTokens("Hello world")).toBe(2);
    const menu = [{ handle: "check-schedule", line: "the calendar" }];
    const request = planRequest({ system: "Your skills:\n- @check-schedule: the calendar", menu });
    const plan = await model.plan(request, never);
    expect(plan).toMatchObject({ type: "plan", sentence: expect.stringMatching(/^I/) });
    const again = await model.plan({ ...request, question: "and now?" }, never);
    if (plan.type !== "plan" || again.type !== "plan") throw new Error("expected plans");
    expect(again.usage?.evaluatedTokens).toBeLessThan(plan.usage?.evaluatedTokens ?? 0);
    const date = toolSet.filter(({ toolName }) => toolName === "current_date");
    const step = await model.step(
      stepRequest({
        system: "Call current_date first.",
        question: "Which day is it?",
        tools: date,
      }),
      never,
    );
    expect(["call current_date", "answer", "failed tokens"]).toContain(
      step.type === "call"
        ? `call ${step.tool}`
        : step.type === "failed"
          ? `failed ${step.cause ?? ""}`
          : step.type,
    );
    const stopping = new AbortController();
    const stopped = model.plan(
      planRequest({ question: "x ".repeat(1_000), menu }),
      stopping.signal,
    );
    setImmediate(() => stopping.abort());
    expect(await stopped).toMatchObject({ type: "failed", reason: "the model was stopped" });
  },
);

it.runIf(minilm !== undefined)(
  "MiniLM puts like meanings close, whatever their words, and reads the beginning of long texts",
  options,
  async () => {
    const opened = await openLlamaEmbedder({ file: minilm ?? "", threads: 1 });
    if (!opened.ok) throw new Error(opened.error.reason);
    await using embedder = opened.value;
    expect(embedder.dimensions).toBe(384);
    const texts = [
      "When do I see the dentist?",
      "medical appointments",
      "a recipe for plum cake",
      "",
      "word ".repeat(2_000),
    ];
    const reply = await embedder.embed(texts, never);
    if (reply.type === "failed") throw new Error(reply.reason);
    const [question, near, far, empty] = reply.vectors;
    expect(reply.vectors).toHaveLength(texts.length);
    expect(cosine(question, question)).toBeCloseTo(1, 4);
    expect(cosine(question, near)).toBeGreaterThan(cosine(question, far) + 0.1);
    expect(Array.from(empty ?? []).every((value) => Number.isFinite(value))).toBe(true);
    expect(await embedder.embed(["x"], AbortSignal.abort())).toMatchObject({ type: "failed" });
  },
);

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return Array.from(a ?? []).reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0);
}
