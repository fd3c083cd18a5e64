/**
 * `npm run eval -- --suite choice|tasks --brain NAME [--cases PATH] [--json] [--each]`: measures how well
 * a brain chooses, beside BM25, or whether it does what was asked; on committed requests or anyone's.
 *
 * Prints a table, or one JSON row a line. It judges nothing: docs/evaluation.md keeps the results.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { bm25Router } from "../src/device/router/bm25.ts";
import { loadStaticRouter } from "../src/device/router/static.ts";
import { type ChoiceRow, parseCases, runChoice } from "./eval/choice.ts";
import { tasksSuite, taskTable } from "./eval/tasks-suite.ts";

const { values: options } = parseArgs({
  options: {
    suite: { type: "string", default: "choice" },
    brain: { type: "string", default: "basic" },
    cases: { type: "string" },
    part: { type: "string" },
    threads: { type: "string" },
    json: { type: "boolean", default: false },
    each: { type: "boolean", default: false },
  },
});

if (options.suite === "tasks") await tasks();
else if (options.suite !== "choice" || options.brain !== "basic") {
  process.stderr.write(
    `eval: expected --suite tasks, or --suite choice and --brain basic, got ${options.suite} and ${options.brain}\n`,
  );
  process.exitCode = 2;
} else {
  const cases = parseCases(readFileSync(options.cases ?? "test/eval/choice-cases.json", "utf8"));
  const router = await loadStaticRouter();
  const onCase = (line: string): void => {
    if (options.each) process.stderr.write(`${line}\n`);
  };
  const rows = [
    ...(await runChoice(router, "basic", cases, onCase)),
    ...(await runChoice(bm25Router, "none", cases)),
  ];
  if (options.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
  else process.stdout.write(`${table(rows)}\n`);
}

async function tasks(): Promise<void> {
  const [from, to] = (options.part ?? "").split("-").map(Number);
  const row = await tasksSuite({
    brain: options.brain,
    folder: options.cases ?? "test/eval/tasks",
    part: from === undefined || to === undefined ? undefined : [from, to],
    threads: options.threads === undefined ? undefined : Number(options.threads),
    onTask: (line) => {
      if (options.each) process.stderr.write(`${line}\n`);
    },
  });
  process.stdout.write(`${options.json ? JSON.stringify(row) : taskTable(row)}\n`);
}

function percent(value: number): string {
  return `${(100 * value).toFixed(0)} %`;
}

function interval([low, high]: readonly [number, number]): string {
  return `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)}`;
}

function table(rows: readonly ChoiceRow[]): string {
  return [
    "| router | menus | n | top 1 | 95 % | top 3 | nothing fits: n | recognised | 95 % | right when said | asks |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
    ...rows.map(
      (row) =>
        `| ${row.router} | ${row.menus} | ${row.n} | ${percent(row.top1)} | ${interval(row.top1Interval)} | ${percent(row.top3)} | ${row.noneN} | ${percent(row.none)} | ${interval(row.noneInterval)} | ${percent(row.nonePrecision)} | ${percent(row.asked)} |`,
    ),
  ].join("\n");
}
