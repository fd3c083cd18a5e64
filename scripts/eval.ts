/**
 * `npm run eval -- --suite choice|tasks --brain NAME [--cases PATH] [--part A-B] [--json] [--each]`:
 * measures how well a brain chooses, beside BM25, or whether it does what was asked; on committed
 * requests or anyone's. `--from FILE …` sums up tasks that were run in parts with `--each`.
 *
 * Prints a table, or one JSON row a line. It judges nothing: docs/evaluation.md keeps the results.
 */
import { parseArgs } from "node:util";

import { choiceSuite } from "./eval/choice-suite.ts";
import { tasksFrom, tasksSuite, taskTable } from "./eval/tasks-suite.ts";

const { values: options } = parseArgs({
  options: {
    suite: { type: "string", default: "choice" },
    brain: { type: "string", default: "basic" },
    cases: { type: "string" },
    part: { type: "string" },
    from: { type: "string", multiple: true, default: [] },
    threads: { type: "string" },
    json: { type: "boolean", default: false },
    each: { type: "boolean", default: false },
  },
});
const [from, to] = (options.part ?? "").split("-").map(Number);
const chosen = {
  brain: options.brain,
  part: from === undefined || to === undefined ? undefined : ([from, to] as const),
  threads: options.threads === undefined ? undefined : Number(options.threads),
};
const tell = (line: string): void => {
  if (options.each) process.stderr.write(`${line}\n`);
};

switch (options.suite) {
  case "choice": {
    const file = options.cases ?? "test/eval/choice-cases.json";
    const text = await choiceSuite({ ...chosen, file, json: options.json, onCase: tell });
    process.stdout.write(`${text}\n`);
    break;
  }
  case "tasks": {
    const folder = options.cases ?? "test/eval/tasks";
    const row =
      options.from.length === 0
        ? await tasksSuite({ ...chosen, folder, onTask: tell })
        : await tasksFrom(options.brain, options.from);
    process.stdout.write(`${options.json ? JSON.stringify(row) : taskTable(row)}\n`);
    break;
  }
  default:
    process.stderr.write(`eval: expected --suite choice or tasks, got ${options.suite}\n`);
    process.exitCode = 2;
}
