/**
 * The `choice` suite from the command line: opens who takes part, runs the cases, and shows the rows
 * as a table or as JSON.
 *
 * Spec: docs/evaluation.md.
 */
import { readFileSync } from "node:fs";

import { type ChoiceRow, parseCases, runChoice } from "./choice.ts";
import { openContender, yardstick } from "./contenders.ts";

/** What is asked for. */
export interface ChoiceOptions {
  readonly brain: string;
  readonly file: string;
  /** From which case to before which; all without. */
  readonly part: readonly [number, number] | undefined;
  readonly threads: number | undefined;
  readonly json: boolean;
  readonly onCase: (line: string) => void;
}

/** Runs it; the text to print. Throws, with what to do, when a contender cannot be had. */
export async function choiceSuite(options: ChoiceOptions): Promise<string> {
  const all = parseCases(readFileSync(options.file, "utf8"));
  const cases = { ...all, cases: all.cases.slice(...(options.part ?? [])) };
  await using contender = await openContender(options.brain, options.threads);
  const rows = [
    ...(await runChoice(contender, cases, options.onCase)),
    ...(await runChoice(yardstick, cases)),
  ];
  return options.json ? rows.map((row) => JSON.stringify(row)).join("\n") : table(rows);
}

function percent(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(0)} %`;
}

function interval([low, high]: readonly [number, number]): string {
  return `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)}`;
}

/** The table's head. */
const columns =
  "brain,router,menus,n,top 1,95 %,top 3,wrongly “nothing”,95 %,nothing fits: n,recognised,95 %,right when said,asks,offered";

function table(rows: readonly ChoiceRow[]): string {
  const head = columns.split(",");
  const cells = rows.map((row) => [
    row.brain,
    row.router,
    row.menus,
    row.n,
    percent(row.top1),
    interval(row.top1Interval),
    percent(row.top3),
    percent(row.wronglyClaimed),
    interval(row.wronglyClaimedInterval),
    row.noneN,
    percent(row.none),
    interval(row.noneInterval),
    percent(row.nonePrecision),
    percent(row.asked),
    percent(row.offered),
  ]);
  return [head, head.map(() => "---"), ...cells]
    .map((line) => `| ${line.join(" | ")} |`)
    .join("\n");
}
