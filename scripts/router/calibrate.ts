/**
 * Fits a judge on trials: how much each kind of likeness counts, when nothing fits, and when to ask.
 * The rules for the two thresholds stand here, and look at nothing but trials.
 */
import {
  bestShare,
  type JudgeWeights,
  lineInputs,
  type LineClues,
  logistic,
  noneInputs,
  type QuestionClues,
  scoreOf,
} from "../../src/device/router/judge.ts";
import type { Trial, TrialKind } from "./trials.ts";

/** A trial as a router sees it. */
export interface Observation {
  readonly trial: Trial;
  readonly question: QuestionClues;
  readonly lines: readonly LineClues[];
}

/** At most this share of the set-aside requests that a skill serves may be told that nothing fits. */
const wronglyClaimed = 0.05;
/** At most this share of right choices may become questions to the owner. */
const needlesslyAsked = 0.1;
/** How much a trial of each kind counts. */
export type KindWeights = Readonly<Record<TrialKind, number>>;

/**
 * Fits weights on trials and chooses thresholds on the requests that are set aside for that, and says
 * how both fare.
 */
export function fitJudge(
  trials: readonly Observation[],
  setAside: readonly Observation[],
  kindWeights: KindWeights,
  say: (line: string) => void,
): JudgeWeights {
  const fitting = trials.filter(({ trial }) => trial.wanted >= 0);
  const line = fitLines(fitting, kindWeights);
  const cases = trials.map((one) => scored(one, line, kindWeights[one.trial.kind]));
  const none = fitNone(cases);
  const judgedBy = (one: Scored): Judged => ({
    ...one,
    none: logistic(scoreOf(none, one.inputs)),
  });
  const chosen = setAside.map((one) => judgedBy(scored(one, line, 1)));
  const wanted = chosen.filter(({ trial }) => trial.wanted >= 0);
  const noneAbove = lowest(
    (above) => shareOf(wanted, (one) => one.none >= above) <= wronglyClaimed,
  );
  const right = wanted.filter((one) => one.right && one.none < noneAbove);
  const askBelow =
    lowest((below) => shareOf(right, ({ share }) => share < below) > needlesslyAsked) - gridStep;
  const weights = { line: rounded(line), none: rounded(none), noneAbove, askBelow };
  const judged = cases.map(judgedBy);
  for (const kind of Object.keys(kindWeights)) {
    const of = judged.filter(({ trial }) => trial.kind === kind);
    tell(kind, of, weights, say);
  }
  tell("set aside, fits", wanted, weights, say);
  const unserved = chosen.filter(({ trial }) => trial.wanted < 0);
  tell("set aside, nothing", unserved, weights, say);
  return weights;
}

interface Scored extends NoneCase {
  readonly share: number;
  readonly right: boolean;
  readonly among: boolean;
}

interface Judged extends Scored {
  readonly none: number;
}

function scored(
  { trial, question, lines }: Observation,
  line: readonly number[],
  weight: number,
): Scored {
  const scores = lines.map((one) => scoreOf(line, lineInputs(question, one)));
  return {
    trial,
    weight,
    inputs: noneInputs(scores, question, lines),
    share: bestShare(scores),
    right: trial.wanted >= 0 && scores[trial.wanted] === Math.max(...scores),
    among: scores.filter((score) => score > (scores[trial.wanted] ?? 0)).length < 3,
  };
}

function tell(
  label: string,
  of: readonly Judged[],
  { noneAbove, askBelow }: JudgeWeights,
  say: (line: string) => void,
): void {
  const parts = {
    right: shareOf(of, (one) => one.right),
    "right or next two": shareOf(of, ({ trial, among }) => trial.wanted >= 0 && among),
    "nothing fits": shareOf(of, (one) => one.none >= noneAbove),
    asked: shareOf(of, (one) => one.none < noneAbove && one.share < askBelow),
  };
  const shares = Object.entries(parts).map(([name, share]) => `${name} ${share.toFixed(3)}`);
  say(`${label} (${of.length}): ${shares.join(", ")}`);
}

const gridStep = 0.01;

/** The lowest threshold of the grid that holds, else 1. */
function lowest(holds: (threshold: number) => boolean): number {
  for (let at = 1; at < 100; at += 1)
    if (holds(at * gridStep)) return Number((at * gridStep).toFixed(2));
  return 1;
}

function shareOf<T extends { readonly weight: number }>(
  cases: readonly T[],
  holds: (one: T) => boolean,
): number {
  const total = cases.reduce((sum, { weight }) => sum + weight, 0);
  const held = cases.reduce((sum, one) => sum + (holds(one) ? one.weight : 0), 0);
  return total === 0 ? 0 : held / total;
}

/** Softmax over the lines of each menu, by Adagrad over all trials at once. */
function fitLines(
  observations: readonly Observation[],
  kindWeights: KindWeights,
): readonly number[] {
  const rows = observations.map(({ trial, question, lines }) => ({
    wanted: trial.wanted,
    weight: kindWeights[trial.kind],
    inputs: lines.map((line) => lineInputs(question, line)),
  }));
  const size = rows[0]?.inputs[0]?.length ?? 0;
  return descend(
    Array.from({ length: size }, () => 5),
    400,
    0.5,
    (weights) => {
      const gradient = weights.map((weight) => 1e-4 * weight);
      for (const { wanted, weight, inputs } of rows) {
        const scores = inputs.map((input) => scoreOf(weights, input));
        const peak = Math.max(...scores);
        const total = scores.reduce((sum, score) => sum + Math.exp(score - peak), 0);
        for (const [at, input] of inputs.entries()) {
          const miss = Math.exp((scores[at] ?? 0) - peak) / total - (at === wanted ? 1 : 0);
          for (const [n, value] of input.entries()) {
            gradient[n]! += (weight * miss * value) / rows.length;
          }
        }
      }
      return gradient;
    },
  );
}

interface NoneCase {
  readonly trial: Trial;
  readonly weight: number;
  readonly inputs: readonly number[];
}

/** Logistic regression on inputs of like size, written back for inputs as they are. */
function fitNone(cases: readonly NoneCase[]): readonly number[] {
  const size = cases[0]?.inputs.length ?? 0;
  const column = (n: number): number[] => cases.map(({ inputs }) => inputs[n] ?? 0);
  const means = Array.from({ length: size }, (_, n) => (n === 0 ? 0 : meanOf(column(n))));
  const spreads = means.map((mean, n) =>
    n === 0 ? 1 : Math.sqrt(meanOf(column(n).map((value) => (value - mean) ** 2))) || 1,
  );
  const rows = cases.map(({ trial, weight, inputs }) => ({
    weight,
    none: trial.wanted < 0 ? 1 : 0,
    inputs: inputs.map((value, n) => (value - means[n]!) / spreads[n]!),
  }));
  const weights = descend(
    means.map(() => 0),
    600,
    0.2,
    (now) => {
      const gradient = now.map((weight) => 1e-3 * weight);
      for (const { weight, none, inputs } of rows) {
        const miss = logistic(scoreOf(now, inputs)) - none;
        for (const [n, value] of inputs.entries()) {
          gradient[n]! += (weight * miss * value) / rows.length;
        }
      }
      return gradient;
    },
  );
  const plain = weights.map((weight, n) => weight / spreads[n]!);
  const shift = plain.reduce((sum, weight, n) => sum + weight * means[n]!, 0);
  return plain.map((weight, n) => (n === 0 ? weight - shift : weight));
}

function descend(
  start: readonly number[],
  rounds: number,
  rate: number,
  slope: (weights: readonly number[]) => readonly number[],
): readonly number[] {
  const weights = [...start];
  const squares = start.map(() => 1e-8);
  for (let round = 0; round < rounds; round += 1) {
    for (const [n, value] of slope(weights).entries()) {
      squares[n]! += value * value;
      weights[n]! -= (rate * value) / Math.sqrt(squares[n]!);
    }
  }
  return weights;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function rounded(values: readonly number[]): readonly number[] {
  return values.map((value) => Number(value.toFixed(4)));
}
