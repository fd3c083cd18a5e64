/**
 * The static router: request and menu line are each the sum of learned rows for their words and word
 * pieces, and fit as well as the two sums point the same way, plus what plain word matching says. No
 * native code, under a millisecond, always present.
 *
 * Weights are made by scripts/train-router.ts from bank/. Spec: docs/agent.md "Routers".
 */
import { bm25Scores } from "./bm25.ts";
import {
  byScore,
  maxChoices,
  type MenuLine,
  type Ranking,
  type Router,
  type Verdict,
} from "./port.ts";
import { decodeTable, type StaticWeights, type Table } from "./static-table.ts";
import { featureRows, lineText } from "./text.ts";

/** Embedded menu lines that are remembered; the oldest goes when a further one comes. */
const maxRememberedLines = 2_048;

/** Loads the weights that ship with this release. */
export async function loadStaticRouter(): Promise<Router> {
  const { staticWeights } = await import("./static-weights.ts");
  return createStaticRouter(staticWeights);
}

/** A router over given weights. */
function createStaticRouter(weights: StaticWeights): Router {
  const table = decodeTable(weights);
  const background = decodeTable({ ...weights.background, dims: weights.dims });
  const lines = new Map<string, Float32Array>();
  const embedLine = (entry: MenuLine): Float32Array => {
    const text = lineText(entry.handle, entry.line);
    const known = lines.get(text);
    if (known !== undefined) return known;
    const embedded = embed(table, text);
    const [oldest] = lines.keys();
    if (lines.size >= maxRememberedLines && oldest !== undefined) lines.delete(oldest);
    lines.set(text, embedded);
    return embedded;
  };
  return {
    name: "static",
    rank: async (question, menu) => {
      const asked = embed(table, question);
      const lexical = bm25Scores(question, menu).map(({ score }) => squash(score));
      const learned = menu.map((entry) => dot(asked, embedLine(entry)));
      const scored = byScore(
        menu.map(({ handle }, at) => ({
          handle,
          score: (learned[at] ?? 0) + weights.lexicalWeight * (lexical[at] ?? 0),
        })),
      );
      const evidence: Evidence = {
        learned: Math.max(0, ...learned),
        lexical: Math.max(0, ...lexical),
        smallTalk: dot(asked, Float32Array.from(weights.none)),
        background: nearest(background, asked),
      };
      return { type: "ranked", scored, verdict: verdictOf(weights, scored, evidence) };
    },
  };
}

/** The direction of a text. Zero for a text without words. */
export function embed({ rows, dims, values }: Table, text: string): Float32Array {
  const sum = new Float32Array(dims);
  for (const row of featureRows(text, rows)) {
    for (let dim = 0; dim < dims; dim += 1) {
      sum[dim] = (sum[dim] ?? 0) + (values[row * dims + dim] ?? 0);
    }
  }
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((value) => value / length);
}

/** How alike two directions are. */
export function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

/** An unbounded lexical score in 0 … 1. */
export function squash(score: number): number {
  return score / (score + 2);
}

/** How alike the nearest row of a table of directions is. */
export function nearest({ rows, dims, values }: Table, asked: Float32Array): number {
  let best = 0;
  for (let row = 0; row < rows; row += 1) {
    best = Math.max(best, dot(asked, values.subarray(row * dims, (row + 1) * dims)));
  }
  return best;
}

/** The best of each kind of evidence about a question. */
export interface Evidence {
  /** Likeness to a line of the menu. */
  readonly learned: number;
  readonly lexical: number;
  readonly smallTalk: number;
  /** Likeness to anything that people ask for, on the menu or not. */
  readonly background: number;
}

/** What the calibration looks at: a constant, the scores, and the evidence. */
export function calibrationInputs(
  scores: readonly number[],
  { learned, lexical, smallTalk, background }: Evidence,
): readonly number[] {
  const [best = 0, second = 0] = scores;
  return [1, best, best - second, lexical, smallTalk, background, background - learned];
}

/** Probability that nothing fits. */
export function noneProbability(calibration: readonly number[], inputs: readonly number[]): number {
  const sum = inputs.reduce((total, input, at) => total + input * (calibration[at] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}

function verdictOf(weights: StaticWeights, scored: Ranking["scored"], evidence: Evidence): Verdict {
  const [best, second] = scored;
  if (best === undefined) return { type: "none" };
  const inputs = calibrationInputs(
    scored.map(({ score }) => score),
    evidence,
  );
  if (noneProbability(weights.calibration, inputs) >= weights.noneAbove) return { type: "none" };
  if (second !== undefined && best.score - second.score < weights.leadBelow) {
    return { type: "unsure", handles: scored.slice(0, maxChoices).map(({ handle }) => handle) };
  }
  return { type: "pick", handle: best.handle };
}
