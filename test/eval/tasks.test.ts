/**
 * The `tasks` suite judges rightly: what is done counts, what only looks done does not. And its world
 * is one in which the tasks can be done: the basic brain does most of them.
 */
import { readFileSync } from "node:fs";

import { afterAll, describe, expect, it } from "vitest";

import { openBrain } from "../../scripts/eval/brains.ts";
import { openTaskWorld } from "../../scripts/eval/tasks-world.ts";
import { parseTasks, runTask, type TaskOutcome, taskRow } from "../../scripts/eval/tasks.ts";
import type { StepReply } from "../../src/device/model/port.ts";
import { scriptedBrain } from "../support/scripted-brain.ts";

const world = openTaskWorld("test/eval/tasks");
afterAll(() => world[Symbol.dispose]());
const tasks = parseTasks(readFileSync("test/eval/tasks/cases.json", "utf8"));

const weekend = {
  ask: "weekend?",
  calls: ["queryCalendar"],
  days: ["2026-12-05", "2026-12-06"] as [string, string],
  facts: ["Flea market|market"],
  absent: ["Leipzig"],
};

function query(from: string, to: string): StepReply {
  return { type: "call", tool: "queryCalendar", args: { from, to } };
}

const plan = { type: "plan", sentence: "I'll use @check-schedule." } as const;

async function problemWith(...steps: readonly StepReply[]): Promise<string> {
  const { problem, done } = await runTask(scriptedBrain({ plan, steps }).model, world, weekend);
  expect(done).toBe(problem === "");
  return problem;
}

describe("a task", () => {
  const right = query("2026-12-05", "2026-12-06");

  it("is done with the right call and an answer that names the facts", async () => {
    expect(await problemWith(right, { type: "answer", text: "The flea MARKET." })).toBe("");
    const wider = query("2026-12-04", "2026-12-06");
    expect(await problemWith(wider, { type: "answer", text: "a market" })).toBe("");
  });

  it("is judged by all that the owner reads, and told apart from the brain's own words", async () => {
    const vague = scriptedBrain({ plan, steps: [right, { type: "answer", text: "See below." }] });
    const naming = scriptedBrain({ plan, steps: [right, { type: "answer", text: "A market." }] });
    const outcomes = [
      await runTask(vague.model, world, weekend),
      await runTask(naming.model, world, weekend),
    ];
    expect(outcomes.map(({ done }) => done)).toEqual([true, true]);
    expect(outcomes.map(({ inWords }) => inWords)).toEqual([false, true]);
    const wider = query("2026-12-01", "2026-12-31");
    expect(await problemWith(wider, { type: "answer", text: "a market" })).toBe("names Leipzig");
  });

  it("is not done by a lucky answer, other days, a missing fact, or facts of other days", async () => {
    const market: StepReply = { type: "answer", text: "a flea market" };
    expect(await problemWith(market)).toBe("did not call queryCalendar");
    const other = await problemWith(query("2026-12-06", "2026-12-07"), market);
    expect(other).toBe("no call covers 2026-12-05 to 2026-12-06");
    const more = { ...weekend, facts: ["Regatta"] };
    const brain = scriptedBrain({ plan, steps: [right, market] });
    expect((await runTask(brain.model, world, more)).problem).toBe("does not name Regatta");
    const both = await problemWith(right, { type: "answer", text: "market, then Leipzig" });
    expect(both).toBe("names Leipzig");
    const refused = await problemWith(query("2026-12-05", "2026-02-30"), market);
    expect(refused).toBe("did not call queryCalendar");
    expect(await problemWith({ type: "failed", reason: "tired" })).toBe("stopped: model-failed");
  });

  it("that needs no call is not done by calling", async () => {
    const idle = { ask: "thanks", calls: [], facts: [] };
    const busy = scriptedBrain({ plan, steps: [right, { type: "answer", text: "ok" }] });
    expect((await runTask(busy.model, world, idle)).problem).toBe("called queryCalendar");
    expect((await runTask(scriptedBrain({}).model, world, idle)).done).toBe(true);
  });
});

it("there are at least sixty tasks over every source, and each can be checked", () => {
  expect(tasks.length).toBeGreaterThanOrEqual(60);
  expect(new Set(tasks.map(({ ask }) => ask)).size).toBe(tasks.length);
  const tools = new Set(tasks.flatMap(({ calls }) => calls));
  for (const tool of [
    "queryCalendar",
    "check_notebook",
    "find_file",
    "grep_memory",
    "current_date",
  ])
    expect(tools).toContain(tool);
  for (const { calls, facts } of tasks) expect(facts.length > 0).toBe(calls.length > 0);
});

it("the basic brain does most of them", async () => {
  const { model, hash } = await openBrain("basic", undefined);
  const outcomes: TaskOutcome[] = [];
  for (const task of tasks) outcomes.push(await runTask(model, world, task));
  const row = taskRow("basic", hash, outcomes);
  expect(row).toMatchObject({ suite: "tasks", brain: "basic", model: null, n: tasks.length });
  expect(row.done).toBeGreaterThan(0.5);
});

it("a brain that is not there is refused with what to do", async () => {
  await expect(openBrain("nobody", undefined)).rejects.toThrow("expected basic, qwen-coder-1.5b");
});
