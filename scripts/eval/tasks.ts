/**
 * The `tasks` suite: is what a person asked for done? Each question runs as a whole turn over the world
 * of tasks-world.ts; the calls that were made and the facts that the answer names decide.
 *
 * Spec: docs/evaluation.md "Whether a task is done".
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

import { answerOf, type AgentEvent, stopOf } from "../../src/device/agent/events.ts";
import { noHistory } from "../../src/device/agent/history.ts";
import { defaultLimits } from "../../src/device/agent/limits.ts";
import { runTurn } from "../../src/device/agent/turn.ts";
import type {
  DirectReply,
  Model,
  PlanReply,
  StepReply,
  Usage,
} from "../../src/device/model/port.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { openRegistry } from "../../src/device/skills/registry.ts";
import { toolSet } from "../../src/device/skills/tools.ts";
import { wilson } from "./choice.ts";
import type { TaskWorld } from "./tasks-world.ts";

const caseSchema = Type.Object({
  ask: Type.String(),
  /** Tools that have to be called with success; none: nothing may be called. */
  calls: Type.Array(Type.String()),
  /** Days that one call of the calendar has to cover. */
  days: Type.Optional(Type.Tuple([Type.String(), Type.String()])),
  /** What the answer has to name; alternatives are divided by `|`. */
  facts: Type.Array(Type.String()),
  /** What it must not name, because it is of other days. */
  absent: Type.Optional(Type.Array(Type.String())),
});

/** One task. */
export type TaskCase = Static<typeof caseSchema>;

const outcomeSchema = Type.Object({
  ask: Type.String(),
  done: Type.Boolean(),
  /** What is wrong; empty when it is done. */
  problem: Type.String(),
  /** Done, and the brain's own words name every fact: the entries under its answer left out. */
  inWords: Type.Boolean(),
  calls: Type.Number(),
  usage: Type.Object({
    promptTokens: Type.Number(),
    evaluatedTokens: Type.Number(),
    completionTokens: Type.Number(),
    ms: Type.Number(),
  }),
});

/** How one task went. */
export type TaskOutcome = Static<typeof outcomeSchema>;

/** One line of results. Shares are 0 … 1. */
export interface TaskRow {
  readonly suite: "tasks";
  readonly brain: string;
  /** SHA-256 of the model's file; null for a brain without one. */
  readonly model: string | null;
  readonly n: number;
  readonly done: number;
  readonly interval: readonly [number, number];
  /** Done, and in the brain's own words. */
  readonly inWords: number;
  /** Means per task. */
  readonly calls: number;
  readonly promptTokens: number;
  readonly evaluatedTokens: number;
  readonly completionTokens: number;
  /** Median per task. Units: s. */
  readonly medianSeconds: number;
}

/** Reads tasks. Throws on malformed ones. */
export function parseTasks(json: string): readonly TaskCase[] {
  return Value.Parse(Type.Array(caseSchema), JSON.parse(json));
}

/** Reads outcomes, one a line; lines that are no JSON are another program's. Throws on malformed ones. */
export function parseOutcomes(text: string): readonly TaskOutcome[] {
  const lines = text.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => Value.Parse(outcomeSchema, JSON.parse(line)));
}

/** Runs one task. */
export async function runTask(
  model: Model,
  world: TaskWorld,
  task: TaskCase,
): Promise<TaskOutcome> {
  const usages: Usage[] = [];
  const words: string[] = [];
  const startedMs = performance.now();
  const events = await runTurn(
    {
      model: metered(model, { usages, words }),
      tools: world.tools,
      clock: world.clock,
      zone: world.zone,
      limits: defaultLimits,
      // No tool of the six asks its owner.
      approver: async () => ({ allowed: false, reason: "nobody is there" }),
    },
    {
      runId: "task",
      question: task.ask,
      mode: "agent",
      harness: "planned",
      registry: openRegistry(builtinSkills, toolSet),
      alignment: { instructions: undefined, blurbs: [] },
      onDemand: [],
      history: noHistory,
      withhold: () => false,
      rehearse: false,
    },
  );
  const problem = problemOf(task, events);
  return {
    ask: task.ask,
    done: problem === "",
    problem,
    inWords: problem === "" && answerProblem(task, words.at(-1) ?? "") === "",
    calls: events.filter(({ type }) => type === "tool-call").length,
    usage: { ...sumOf(usages), ms: performance.now() - startedMs },
  };
}

/** Sums outcomes up. */
export function taskRow(
  brain: string,
  model: string | null,
  outcomes: readonly TaskOutcome[],
): TaskRow {
  const n = outcomes.length;
  const count = (is: (outcome: TaskOutcome) => boolean): number => outcomes.filter(is).length;
  const share = (hits: number): number => Math.round((1_000 * hits) / Math.max(1, n)) / 1_000;
  const done = count((outcome) => outcome.done);
  const mean = (value: (outcome: TaskOutcome) => number): number =>
    Math.round((10 * outcomes.reduce((sum, one) => sum + value(one), 0)) / Math.max(1, n)) / 10;
  const seconds = outcomes.map(({ usage }) => usage.ms / 1_000).toSorted((a, b) => a - b);
  return {
    suite: "tasks",
    brain,
    model,
    n,
    done: share(done),
    interval: wilson(done, n),
    inWords: share(count((outcome) => outcome.inWords)),
    calls: mean(({ calls }) => calls),
    promptTokens: mean(({ usage }) => usage.promptTokens),
    evaluatedTokens: mean(({ usage }) => usage.evaluatedTokens),
    completionTokens: mean(({ usage }) => usage.completionTokens),
    medianSeconds: Math.round(100 * (seconds[Math.floor(n / 2)] ?? 0)) / 100,
  };
}

/** What is wrong with how a task went; empty: nothing. */
function problemOf(task: TaskCase, events: readonly AgentEvent[]): string {
  const stop = stopOf(events);
  if (stop?.reason !== "answered") return `stopped: ${stop?.reason ?? "never"}`;
  return callProblem(task, successfulCalls(events)) || answerProblem(task, answerOf(events) ?? "");
}

function callProblem({ calls, days }: TaskCase, made: readonly MadeCall[]): string {
  if (calls.length === 0) return made[0] === undefined ? "" : `called ${made[0].tool}`;
  const missing = calls.find((tool) => !made.some((call) => call.tool === tool));
  if (missing !== undefined) return `did not call ${missing}`;
  return days === undefined || made.some(({ args }) => covers(args, days))
    ? ""
    : `no call covers ${days.join(" to ")}`;
}

function answerProblem({ facts, absent = [] }: TaskCase, answer: string): string {
  const text = answer.toLowerCase();
  const holds = (fact: string): boolean =>
    fact.split("|").some((one) => text.includes(one.toLowerCase()));
  const unnamed = facts.find((fact) => !holds(fact));
  if (unnamed !== undefined) return `does not name ${unnamed}`;
  const wrong = absent.find(holds);
  return wrong === undefined ? "" : `names ${wrong}`;
}

interface MadeCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
}

function successfulCalls(events: readonly AgentEvent[]): readonly MadeCall[] {
  return events.flatMap((event) =>
    event.type === "tool-call" &&
    events.some((other) => other.type === "tool-result" && other.step === event.step && other.ok)
      ? [event]
      : [],
  );
}

function covers(
  { from, to }: Readonly<Record<string, string>>,
  [first, last]: readonly [string, string],
): boolean {
  return from !== undefined && to !== undefined && from <= first && to >= last;
}

/** Notes what every reply of a model took, and the words of its answers. */
function metered(
  model: Model,
  { usages, words }: { readonly usages: Usage[]; readonly words: string[] },
): Model {
  const note = <R extends PlanReply | StepReply | DirectReply>(reply: R): R => {
    if (reply.type === "answer") words.push(reply.text);
    if (reply.type !== "unsure" && reply.usage !== undefined) usages.push(reply.usage);
    return reply;
  };
  return {
    ...model,
    plan: async (request, signal) => note(await model.plan(request, signal)),
    step: async (request, signal) => note(await model.step(request, signal)),
    answer: async (request, signal) => note(await model.answer(request, signal)),
  };
}

function sumOf(usages: readonly Usage[]): Omit<Usage, "ms"> {
  const sum = (value: (usage: Usage) => number): number =>
    usages.reduce((total, usage) => total + value(usage), 0);
  return {
    promptTokens: sum((usage) => usage.promptTokens),
    evaluatedTokens: sum((usage) => usage.evaluatedTokens),
    completionTokens: sum((usage) => usage.completionTokens),
  };
}
