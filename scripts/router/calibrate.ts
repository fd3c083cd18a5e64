/**
 * Learns when nothing fits, and how much word matching counts, on made-up menus. Half of them hold
 * concepts that the table was not trained on, because that is what a person's own skills are.
 */
import { bm25Scores } from "../../src/device/router/bm25.ts";
import { type Concept, smallTalk } from "../../src/device/router/bank/bank.ts";
import type { MenuLine } from "../../src/device/router/port.ts";
import { calibrationInputs, dot, embed, nearest, squash } from "../../src/device/router/static.ts";
import type { Table } from "../../src/device/router/static-table.ts";
import { lineText } from "../../src/device/router/text.ts";
import { noneLine, requestOf } from "./pairs.ts";
import type { Random } from "./random.ts";

/** A request before a made-up menu; `wanted` is its place there, or -1. */
export interface Trial {
  readonly request: string;
  readonly menu: readonly MenuLine[];
  readonly wanted: number;
}

/** Makes trials; a third of them wants nothing that is there. */
export function makeTrials(
  concepts: readonly Concept[],
  count: number,
  random: Random,
): readonly Trial[] {
  return Array.from({ length: count }, () => {
    const [outside, ...chosen] = random
      .shuffled(concepts)
      .slice(0, 1 + random.pick([3, 4, 4, 5, 8, 12]));
    const menu = chosen.map((concept) => ({
      handle: random.pick(concept.handles),
      line: random.pick(concept.lines),
    }));
    if (random.next() < 0.33 && outside !== undefined) {
      const request = random.next() < 0.15 ? random.pick(smallTalk) : requestOf(outside, random);
      return { request, menu, wanted: -1 };
    }
    const wanted = Math.floor(random.next() * chosen.length);
    const concept = chosen[wanted];
    if (concept === undefined) throw new Error("an empty menu");
    return { request: requestOf(concept, random), menu, wanted };
  });
}

interface Judged {
  readonly inputs: readonly number[];
  readonly right: boolean;
  readonly none: boolean;
}

/** Directions of concepts, each the mean of its lines': what a request may want instead. */
export function backgroundOf(table: Table, concepts: readonly Concept[]): Table {
  const { dims } = table;
  const values = new Float32Array(concepts.length * dims);
  for (const [row, { lines }] of concepts.entries()) {
    const sum = new Float32Array(dims);
    for (const line of lines)
      embed(table, line).forEach((value, at) => (sum[at] = (sum[at] ?? 0) + value));
    const length = Math.hypot(...sum) || 1;
    sum.forEach((value, at) => (values[row * dims + at] = value / length));
  }
  return { rows: concepts.length, dims, values };
}

/** Judges trials with a weight for word matching, before a background. */
export function judgeTrials(
  { table, background }: { readonly table: Table; readonly background: Table },
  trials: readonly Trial[],
  lexicalWeight: number,
): readonly Judged[] {
  const none = embed(table, noneLine);
  return trials.map(({ request, menu, wanted }) => {
    const asked = embed(table, request);
    const lexical = bm25Scores(request, menu).map(({ score }) => squash(score));
    const learned = menu.map(({ handle, line }) =>
      dot(asked, embed(table, lineText(handle, line))),
    );
    const scores = learned.map((score, at) => score + lexicalWeight * (lexical[at] ?? 0));
    const sorted = scores.toSorted((a, b) => b - a);
    const evidence = {
      learned: Math.max(0, ...learned),
      lexical: Math.max(0, ...lexical),
      smallTalk: dot(asked, none),
      background: nearest(background, asked),
    };
    return {
      inputs: calibrationInputs(sorted, evidence),
      right: wanted >= 0 && scores[wanted] === sorted[0],
      none: wanted < 0,
    };
  });
}

/** Share of fitting requests whose line is first. */
export function accuracyOf(judged: readonly Judged[]): number {
  const fitting = judged.filter(({ none }) => !none);
  return fitting.filter(({ right }) => right).length / Math.max(1, fitting.length);
}

/** Logistic regression of "nothing fits" by gradient descent. */
export function fitNone(judged: readonly Judged[]): readonly number[] {
  let weights = judged[0]?.inputs.map(() => 0) ?? [];
  for (let round = 0; round < 4_000; round += 1) {
    const gradient = weights.map(() => 0);
    for (const { inputs, none } of judged) {
      const sum = inputs.reduce((total, input, at) => total + input * (weights[at] ?? 0), 0);
      const miss = 1 / (1 + Math.exp(-sum)) - (none ? 1 : 0);
      for (const [at, input] of inputs.entries()) gradient[at] = (gradient[at] ?? 0) + miss * input;
    }
    weights = weights.map((weight, at) => weight - (4 * (gradient[at] ?? 0)) / judged.length);
  }
  return weights;
}
