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
export function createStaticRouter(weights: StaticWeights): Router {
  const table = decodeTable(weights);
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
    rank: (question, menu) => {
      const asked = embed(table, question);
      const lexical = bm25Scores(question, menu).map(({ score }) => score);
      const scored = menu.map((entry, index) => ({
        handle: entry.handle,
        score: dot(asked, embedLine(entry)) + weights.lexicalWeight * squash(lexical[index] ?? 0),
      }));
      const smallTalk = dot(asked, Float32Array.from(weights.none));
      return judge(weights, byScore(scored), [Math.max(0, ...lexical.map(squash)), smallTalk]);
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

/** What the calibration looks at. */
export function calibrationInputs(
  scores: readonly number[],
  [lexical, smallTalk]: readonly [lexical: number, smallTalk: number],
): readonly number[] {
  const [best = 0, second = 0] = scores;
  return [1, best, best - second, lexical, smallTalk];
}

/** Probability that nothing fits. */
export function noneProbability(calibration: readonly number[], inputs: readonly number[]): number {
  const sum = inputs.reduce((total, input, at) => total + input * (calibration[at] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}

function judge(
  weights: StaticWeights,
  scored: Ranking["scored"],
  evidence: readonly [lexical: number, smallTalk: number],
): Ranking {
  return { scored, verdict: verdictOf(weights, scored, evidence) };
}

function verdictOf(
  weights: StaticWeights,
  scored: Ranking["scored"],
  evidence: readonly [lexical: number, smallTalk: number],
): Verdict {
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
