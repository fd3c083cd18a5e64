/**
 * `agent-overhead`: what the harness adds to a model's own time in each step of a turn: prompts,
 * template, binding, checks of calls, events. Peer: the limit of 10 ms a step.
 *
 * Runs whole turns over the real engine on the scripted model, which is fast enough that the harness
 * would show. A step is a reply of the model: the plan, each call, the answer.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { openLlamaModel } from "../src/device/model/llama/llama-model.ts";
import type { DirectReply, Model, PlanReply, StepReply } from "../src/device/model/port.ts";
import { scriptedLlama } from "../test/support/gguf/scripted-llama.ts";
import { recordingTools, textResult, turnOf } from "../test/support/turns.ts";
import { type Bench, type BenchOptions, machineName, quantile } from "./bench.ts";

const limitMs = 10;

const days = { from: "2026-12-05", to: "2026-12-06" };
const script = [
  { when: ["Your skills:", "concerts"], say: "I'll use @check-schedule to look for concerts." },
  { when: ["CallTool", "concerts"], say: '{"tool":"current_date","args":{}}' },
  {
    when: ["CallTool", "concerts", "of current_date"],
    say: JSON.stringify({ tool: "queryCalendar", args: days }),
  },
  {
    when: ["CallTool", "concerts", "of current_date", "of queryCalendar"],
    say: '{"answer":"There is a flea market on Saturday."}',
  },
];
const stepsPerTurn = script.length;

/** The benchmark. */
export const agentOverhead: Bench = { name: "agent-overhead", run };

async function run({ quick, emit }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-bench-"));
  const file = path.join(folder, "scripted.gguf");
  writeFileSync(file, scriptedLlama(script));
  try {
    const model = await openLlamaModel({ file, threads: 1 });
    if (!model.ok) throw new Error(model.error.reason);
    await using opened = model.value;
    await overheadOf(opened);
    const samples: number[] = [];
    for (let turn = 0; turn < (quick ? 30 : 200); turn += 1) samples.push(await overheadOf(opened));
    const median = quantile(samples, 0.5);
    emit({
      bench: "agent-overhead",
      value: median,
      unit: "ms per step beyond the model",
      samples: samples.length,
      median,
      p99: quantile(samples, 0.99),
      peer: "limit of 10 ms per step",
      peerValue: limitMs,
      ratio: median / limitMs,
      machine: machineName(),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One turn's time beyond its model, per step. Throws when the turn went another way. Units: ms. */
async function overheadOf(model: Model): Promise<number> {
  let modelMs = 0;
  const note = <R extends PlanReply | StepReply | DirectReply>(reply: R): R => {
    if (reply.type !== "unsure") modelMs += reply.usage?.ms ?? 0;
    return reply;
  };
  const metered: Model = {
    ...model,
    plan: async (request, signal) => note(await model.plan(request, signal)),
    step: async (request, signal) => note(await model.step(request, signal)),
    answer: async (request, signal) => note(await model.answer(request, signal)),
  };
  const { tools, received } = recordingTools({
    queryCalendar: async () => textResult("2026-12-05 (Saturday) 09:00: Flea market", true),
  });
  const startedMs = performance.now();
  await turnOf(metered, "any concerts?", { tools });
  const wallMs = performance.now() - startedMs;
  if (received.length !== stepsPerTurn - 2) throw new Error("the turn did not follow its script");
  return Math.max(0, wallMs - modelMs) / stepsPerTurn;
}
