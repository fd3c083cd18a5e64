/**
 * The native engine on generated files, whatever else is installed: loading, template, exact prices,
 * reuse of what was evaluated, aborts, limits and the end.
 */
import { expect, it } from "vitest";

import { loadBinding } from "../../../../src/device/model/llama/binding.ts";
import { openLlamaModel } from "../../../../src/device/model/llama/llama-model.ts";
import type { PlanRequest, Usage } from "../../../../src/device/model/port.ts";
import { planMessages } from "../../../../src/device/model/transcript.ts";
import { generatedModels } from "../../../support/gguf/generated.ts";
import { randomLlama } from "../../../support/gguf/random-llama.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { directRequest, planRequest, stepRequest } from "../../../support/model-requests.ts";

const models = generatedModels();
const random = models.write("random.gguf", randomLlama());
const model = await models.open(random, { replyTokens: 24 });
const never = new AbortController().signal;
const menu = [
  { handle: "check-schedule", line: "the calendar" },
  { handle: "search-info", line: "everything kept" },
];

function planOf(question: string): PlanRequest {
  const system = `Be brief.\n\nYour skills:\n${menu.map(({ handle, line }) => `- @${handle}: ${line}`).join("\n")}`;
  return planRequest({ system, question, menu });
}

/** A plan's sentence, and what it took. */
async function planned(
  brain: typeof model,
  question: string,
): Promise<{ readonly sentence: string; readonly usage: Usage }> {
  const reply = await brain.plan(planOf(question), never);
  if (reply.type !== "plan" || reply.usage === undefined) throw new Error(JSON.stringify(reply));
  return { sentence: reply.sentence, usage: reply.usage };
}

const step = stepRequest();

it("counts exactly: a token a byte here, and never a special one out of a text", () => {
  expect(model.countTokens("grün")).toBe(5);
  expect(model.countTokens("<|im_end|>")).toBe("<|im_end|>".length);
});

/** Tokens that begin a message: its start, the role, a line break. */
function opening(role: string): number {
  return 1 + role.length + 1;
}

it("prices a prompt through the chat template", async () => {
  const { usage } = await planned(model, "what <|im_end|> is on?");
  const texts = planMessages(planOf("what <|im_end|> is on?"));
  const told = texts.reduce(
    (sum, { role, text }) => sum + opening(role) + Buffer.byteLength(text) + 2,
    0,
  );
  expect(usage.promptTokens).toBe(told + opening("assistant"));
});

it("evaluates the menu once, not once per question, whatever runs in between", async () => {
  const first = await planned(model, "one?");
  await model.step(step, never);
  const second = await planned(model, "two?");
  const third = await planned(model, "two?");
  const menuTokens = Buffer.byteLength(planOf("").system);
  expect(first.usage.promptTokens).toBeGreaterThan(menuTokens);
  expect(second.usage.evaluatedTokens).toBeLessThan(second.usage.promptTokens - menuTokens);
  expect(third.usage.evaluatedTokens).toBe(1);
});

/** What a step costs over the procedure of a skill. */
async function evaluated(system: string, question: string): Promise<number> {
  const { usage } = await model.step(stepRequest({ system: system.repeat(200), question }), never);
  return usage?.evaluatedTokens ?? 0;
}

it("keeps the procedures of two skills, whichever was asked for last", async () => {
  await evaluated("a", "one?");
  await evaluated("b", "one?");
  expect(await evaluated("b", "two?")).toBeLessThan(150);
  expect(await evaluated("a", "two?")).toBeLessThan(150);
  expect(await evaluated("b", "again?")).toBeLessThan(150);
  expect(await evaluated("c", "two?")).toBeGreaterThan(200);
  expect(await evaluated("b", "three?")).toBeLessThan(150);
  expect(await evaluated("a", "three?")).toBeGreaterThan(200);
});

it("runs two sequences at once", async () => {
  const alone = await planned(model, "both?");
  const [plan, called] = await Promise.all([planned(model, "both?"), model.step(step, never)]);
  expect(plan.sentence).toBe(alone.sentence);
  expect(called.usage?.completionTokens).toBeGreaterThan(0);
});

it("refuses what does not fit before sending it, with the numbers", async () => {
  const reply = await model.plan(planOf("x".repeat(5_000)), never);
  expect(reply).toMatchObject({ type: "failed", cause: "overflow" });
  expect(reply.type === "failed" && reply.reason).toMatch(
    /^the prompt takes 5\d{3} tokens and the reply up to 96, together more than the context of 4096: /,
  );
});

it("A27, A29: what a tool brought cannot push the question out, nor be answered around", async () => {
  const call = { tool: "grep_memory", args: {}, ok: true, found: 1, near: false, untrusted: true };
  const told = (text: string) => ({
    ...step,
    calls: [{ ...call, entries: [], text, promptText: text }],
  });
  const fits = await model.step(told("x".repeat(3_000)), never);
  const over = await model.step(told("x".repeat(4_096)), never);
  expect(fits.usage?.promptTokens).toBeGreaterThan(3_000);
  expect(over).toMatchObject({ type: "failed", cause: "overflow" });
  expect(over.usage).toBeUndefined();
});

it("A31: counts the reply's tokens against the context as well", async () => {
  const room = 4_096 - 96;
  const bare = (await planned(model, "")).usage.promptTokens;
  const fits = await model.plan(planOf("x".repeat(room - bare)), never);
  const over = await model.plan(planOf("x".repeat(room - bare + 1)), never);
  expect(fits.type).toBe("plan");
  expect(over).toMatchObject({ type: "failed", cause: "overflow" });
});

it("ends a reply at its limit and says so", async () => {
  const reply = await model.answer(directRequest(), never);
  expect(reply).toMatchObject({ type: "failed", cause: "tokens" });
  expect(reply.usage?.completionTokens).toBe(24);
});

it("stops inside the prompt, and answers the next question", async () => {
  const controller = new AbortController();
  const reply = model.plan(planOf("y".repeat(3_000)), controller.signal);
  setImmediate(() => controller.abort());
  const stopped = await reply;
  if (stopped.type !== "failed") throw new Error("expected a failure");
  expect(stopped.reason).toBe("the model was stopped");
  expect(stopped.usage?.evaluatedTokens ?? 0).toBeLessThan(3_000);
  expect((await model.plan(planOf("again?"), never)).type).toBe("plan");
});

it("stops between two tokens of a reply, while it waits in line, and before it began", async () => {
  const controller = new AbortController();
  const heard: string[] = [];
  const onToken = (text: string): void => {
    if (heard.push(text) === 3) controller.abort();
  };
  const talking = model.answer(directRequest({ onToken }), controller.signal);
  const waiting = model.step(step, controller.signal);
  for (const reply of [await talking, await waiting, await model.step(step, controller.signal)]) {
    expect(reply).toMatchObject({ type: "failed", reason: "the model was stopped" });
  }
  expect(heard).toHaveLength(3);
});

it("refuses a ninth request for the same prompt instead of letting the line grow", async () => {
  const replies = await Promise.all(Array.from({ length: 9 }, () => model.step(step, never)));
  const busy = replies.filter((reply) => reply.type === "failed" && /is busy/.test(reply.reason));
  expect(busy).toHaveLength(1);
});

it.each<[what: string, bytes: (whole: Buffer) => Buffer, expected: RegExp]>([
  [
    "a cut file",
    (whole) => whole.subarray(0, 100_000),
    /cannot be loaded: pull or import it again/,
  ],
  [
    "a cut header",
    (whole) => whole.subarray(0, 2_000),
    /cannot be loaded: pull or import it again/,
  ],
  [
    "a broken header",
    (whole) => Buffer.concat([whole.subarray(0, 8), Buffer.alloc(600, 0xab)]),
    /cannot be loaded/,
  ],
  [
    "another format",
    () => Buffer.from("PK\u0003\u0004 and so on"),
    /is no model: expected a GGUF file/,
  ],
  ["an empty file", () => Buffer.alloc(0), /is no model: expected a GGUF file/],
])("says what is wrong with %s", async (what, bytes, expected) => {
  const file = models.write(`${what}.gguf`, bytes(randomLlama()));
  const opened = await openLlamaModel({ file, threads: 1 });
  if (opened.ok) throw new Error("expected a failure");
  expect(opened.error).toMatchObject({ type: "failed", cause: "unavailable" });
  expect(opened.error.reason).toMatch(expected);
});

it("says that there is no file, and what to do", async () => {
  const opened = await openLlamaModel({ file: `${random}.gone`, threads: 1 });
  if (opened.ok) throw new Error("expected a failure");
  expect(opened.error).toMatchObject({ cause: "unavailable" });
  expect(opened.error.reason).toContain("cannot be read: pull or import it, or choose another");
});

it("says that there is no engine, and what to do", async () => {
  const missing = new Error("Cannot find package 'node-llama-cpp'\nat …");
  const binding = await loadBinding(() => Promise.reject(missing));
  expect(binding).toEqual({
    ok: false,
    error: {
      type: "failed",
      cause: "unavailable",
      reason:
        "the model engine is not installed: run npm install node-llama-cpp beside pixie, or pixie model use basic (Cannot find package 'node-llama-cpp')",
    },
  });
});

it("stops what runs when it is closed, and answers nothing afterwards", async () => {
  const closing = await models.open(random);
  const running = closing.plan(planOf("z".repeat(3_000)), never);
  await new Promise((resolve) => setImmediate(resolve));
  await closing[Symbol.asyncDispose]();
  expect(await running).toMatchObject({ type: "failed", reason: "the model was stopped" });
  expect(await closing.plan(planOf("?"), never)).toMatchObject({ reason: "the model was closed" });
  await closing[Symbol.asyncDispose]();
});

it("leaves the memory after a time without questions, and comes back for the next", async () => {
  const clock = createManualClock(0);
  const resident = await models.open(random, { clock, idleMs: 60_000 });
  const before = await planned(resident, "first?");
  await clock.advance(59_999);
  expect(resident.isLoaded()).toBe(true);
  await clock.advance(1);
  await expect.poll(() => resident.isLoaded(), { timeout: 20_000 }).toBe(false);
  expect(resident.countTokens("grün")).toBe(5);
  const after = await planned(resident, "first?");
  expect(resident.isLoaded()).toBe(true);
  expect(after.sentence).toBe(before.sentence);
  expect(after.usage.evaluatedTokens).toBe(before.usage.promptTokens);
});
