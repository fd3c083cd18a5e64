/**
 * Runs the `tasks` suite for one brain and prints what came of it.
 *
 * Spec: docs/evaluation.md "Whether a task is done".
 */
import { readFileSync } from "node:fs";
import path from "node:path";

import { brainHash, openBrain } from "./brains.ts";
import { openTaskWorld } from "./tasks-world.ts";
import {
  parseOutcomes,
  parseTasks,
  runTask,
  type TaskOutcome,
  type TaskRow,
  taskRow,
} from "./tasks.ts";

/** What the suite is run with. */
export interface TasksOptions {
  readonly brain: string;
  /** A folder with `cases.json`, `world.json` and `calendar.ics`. */
  readonly folder: string;
  /** Of the tasks, those from one number to another; all without it. */
  readonly part: readonly [from: number, to: number] | undefined;
  readonly threads: number | undefined;
  readonly onTask: (line: string) => void;
}

/** Runs it. */
export async function tasksSuite(options: TasksOptions): Promise<TaskRow> {
  const { brain, folder, part, threads, onTask } = options;
  const all = parseTasks(readFileSync(path.join(folder, "cases.json"), "utf8"));
  const tasks = part === undefined ? all : all.slice(part[0], part[1]);
  const { model, hash } = await openBrain(brain, threads);
  using world = openTaskWorld(folder);
  const outcomes: TaskOutcome[] = [];
  try {
    for (const task of tasks) {
      const outcome = await runTask(model, world, task);
      outcomes.push(outcome);
      onTask(JSON.stringify(outcome));
    }
  } finally {
    await model[Symbol.asyncDispose]();
  }
  return taskRow(brain, hash, outcomes);
}

/** The row of outcomes that were written down before: what `onTask` told, in files. */
export async function tasksFrom(brain: string, files: readonly string[]): Promise<TaskRow> {
  const outcomes = files.flatMap((file) => parseOutcomes(readFileSync(file, "utf8")));
  return taskRow(brain, await brainHash(brain), outcomes);
}

/** The row as a table of the documents has it. */
export function taskTable(row: TaskRow): string {
  const [low, high] = row.interval.map((share) => (100 * share).toFixed(0));
  return [
    "| brain | n | done | 95 % | in its words | calls | prompt tokens | evaluated | generated | median s |",
    "|---|---|---|---|---|---|---|---|---|---|",
    `| ${row.brain} | ${row.n} | ${(100 * row.done).toFixed(0)} % | ${low ?? ""}–${high ?? ""} | ${(100 * row.inWords).toFixed(0)} % | ${row.calls} | ${row.promptTokens} | ${row.evaluatedTokens} | ${row.completionTokens} | ${row.medianSeconds} |`,
  ].join("\n");
}
