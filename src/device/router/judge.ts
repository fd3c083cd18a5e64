/**
 * What the routers make of likeness: which line a question wants, whether to ask, and whether nothing
 * fits. Beside the menu it knows what else people ask for, the background: a question that is closer
 * to something known than to any line of the menu wants what is not there.
 *
 * It knows vectors and numbers only, not how they came about. Pure. Weights are fitted by
 * scripts/router. Spec: docs/agent.md "Routers".
 */
import { byScore, maxChoices, type Ranking } from "./port.ts";
import { dot, type Table } from "./table.ts";

/** What people ask for, one row a concept in both tables, and small talk. */
export interface Background {
  /** The middle of a concept's requests. */
  readonly requests: Table;
  /** The middle of a concept's menu lines. */
  readonly lines: Table;
  readonly smallTalk: Table;
}

/** A question beside the background. */
export interface QuestionClues {
  /** Likeness to each concept's requests. */
  readonly concepts: Float32Array;
  /** Likeness to each concept's lines, as learned: what a menu with that line would offer. */
  readonly offers: Float32Array;
  /** Likeness to the nearest small talk. */
  readonly smallTalk: number;
}

/** A line of the menu, beside the question and the background. */
export interface LineClues {
  readonly handle: string;
  /** Likeness to the question, one number for each way of looking; the first is the learned one. */
  readonly likeness: readonly number[];
  /** Likeness to each concept's lines. */
  readonly concepts: Float32Array;
  /** Likeness to each concept's requests, as learned: who else would ask for it. */
  readonly askers: Float32Array;
}

/** What is fitted. */
export interface JudgeWeights {
  /** Of a line's `lineInputs`. */
  readonly line: readonly number[];
  /** Of the `noneInputs`: logistic. */
  readonly none: readonly number[];
  /** "Nothing fits" from this probability on. */
  readonly noneAbove: number;
  /** The owner is asked when the best line is less probable than this. */
  readonly askBelow: number;
}

/** How sharply the nearest concepts count. */
const conceptTemperature = 0.05;
/** Concepts that may be what a question wants instead. */
const rivals = 10;
/** A concept whose lines are this much like one of the menu stands on the menu. */
const kin = 0.6;
/** How sharply the best of menu and background count against each other. */
const offerTemperature = 0.05;

/** Likeness of every row of a table. */
export function rowsLike({ rows, dims, values }: Table, direction: Float32Array): Float32Array {
  const like = new Float32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    like[row] = dot(values.subarray(row * dims, (row + 1) * dims), direction);
  }
  return like;
}

/** Judges a menu. */
export function judge(
  weights: JudgeWeights,
  question: QuestionClues,
  lines: readonly LineClues[],
): Ranking {
  const scores = lines.map((line) => scoreOf(weights.line, lineInputs(question, line)));
  const scored = byScore(lines.map(({ handle }, at) => ({ handle, score: scores[at] ?? 0 })));
  const [best] = scored;
  if (best === undefined) return { type: "ranked", scored, verdict: { type: "none" } };
  const none = logistic(scoreOf(weights.none, noneInputs(scores, question, lines)));
  if (none >= weights.noneAbove) return { type: "ranked", scored, none, verdict: { type: "none" } };
  const handles = scored.slice(0, maxChoices).map(({ handle }) => handle);
  const unsure = handles.length > 1 && bestShare(scores) < weights.askBelow;
  return {
    type: "ranked",
    scored,
    none,
    verdict: unsure ? { type: "unsure", handles } : { type: "pick", handle: best.handle },
  };
}

/** What a line's score is made of: its likenesses, and how well a known concept leads to it. */
export function lineInputs(question: QuestionClues, line: LineClues): readonly number[] {
  let led = 0;
  for (let concept = 0; concept < line.concepts.length; concept += 1) {
    led = Math.max(led, (line.concepts[concept] ?? 0) * (question.concepts[concept] ?? 0));
  }
  return [...line.likeness, led];
}

/** What speaks for "nothing fits", from the scores and the background. */
export function noneInputs(
  scores: readonly number[],
  { concepts, offers, smallTalk }: QuestionClues,
  lines: readonly LineClues[],
): readonly number[] {
  const [best = 0, second = best] = scores.toSorted((a, b) => b - a);
  const likely = lines[scores.indexOf(best)];
  const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
  const learned = Math.max(0, ...lines.map(({ likeness }) => likeness[0] ?? 0));
  const nearest = nearestConcepts(concepts);
  const onMenu = nearest.map((concept) =>
    Math.max(0, ...lines.map((line) => line.concepts[concept] ?? 0)),
  );
  const near = nearest.map((concept) => concepts[concept] ?? 0);
  const strange = offers.filter((_, concept) =>
    lines.every((line) => (line.concepts[concept] ?? 0) < kin),
  );
  const away = Math.max(-1, ...near.map((like, at) => like - (onMenu[at] ?? 0)));
  return [
    1,
    mean / 10,
    (best - second) / 10,
    bestShare(scores),
    learned,
    near[0] ?? 0,
    away,
    onMenu[0] ?? 0,
    spread(concepts) / 4,
    smallTalk,
    learned - Math.max(-1, ...strange),
    shareOfMenu(
      lines.map(({ likeness }) => likeness[0] ?? 0),
      strange,
    ),
    likely === undefined ? 0 : askersBefore(likely),
  ];
}

/** Weighted sum. */
export function scoreOf(weights: readonly number[], inputs: readonly number[]): number {
  return inputs.reduce((sum, input, at) => sum + input * (weights[at] ?? 0), 0);
}

/** A number as a probability. */
export function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** Probability of the best line among the lines. */
export function bestShare(scores: readonly number[]): number {
  const peak = Math.max(...scores);
  return 1 / scores.reduce((sum, score) => sum + Math.exp(score - peak), 0);
}

/** How much of a question the menu takes beside all that the background offers: a log of a share. */
function shareOfMenu(menu: readonly number[], strange: Float32Array): number {
  const peak = Math.max(...menu, ...strange);
  const sum = (likeness: Iterable<number>): number =>
    [...likeness].reduce((total, like) => total + Math.exp((like - peak) / offerTemperature), 0);
  const own = sum(menu);
  return Math.max(-20, Math.log(own / (own + sum(strange))));
}

/** How many known concepts ask for a line more clearly than the question does, as a logarithm. */
function askersBefore({ likeness, askers }: LineClues): number {
  const before = askers.filter((like) => like > (likeness[0] ?? 0)).length;
  return Math.log1p(before);
}

function nearestConcepts(concepts: Float32Array): readonly number[] {
  return [...concepts.keys()]
    .toSorted((a, b) => (concepts[b] ?? 0) - (concepts[a] ?? 0))
    .slice(0, rivals);
}

/** Over how many concepts a question spreads: the entropy of their shares. Zero without concepts. */
function spread(concepts: Float32Array): number {
  const peak = Math.max(...concepts);
  const shares = concepts.map((like) => Math.exp((like - peak) / conceptTemperature));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.reduce((sum, share) => {
    const part = share / total;
    return part > 0 ? sum - part * Math.log(part) : sum;
  }, 0);
}
