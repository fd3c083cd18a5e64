/**
 * A contest: systems under the same load in turn, round by round in one run, so that what slows the
 * machine slows all of them. Each round is as long as its system needs to be measured: a slow one gets
 * fewer messages.
 */
import { machineName, type BenchLine, type BenchOptions, progress, quantile } from "./bench.ts";
import type { LoadShape } from "./load/client.ts";
import type { LoadReport, LoadTarget } from "./load/load-process.ts";
import { runLoad } from "./load/run-load.ts";

/** Who takes part. */
export interface Contestant {
  readonly label: string;
  readonly target: LoadTarget;
  /** What stands between rounds. */
  readonly afterRound?: () => Promise<void>;
  /** Told when a round of it fails: it takes no further part, and the contest goes on without it. */
  readonly onFailed?: (reason: string) => void;
}

/** How long. */
export interface ContestLength {
  readonly rounds: number;
  /** Units: s, of the measured part of a round. */
  readonly seconds: number;
}

/** Messages that each publisher keeps unconfirmed. */
const window = 32;
const warmShare = 0.2;
const maxMessages = 60_000;

/** Copies per second by contestant, a value for each round. One that failed has no entry. */
export async function ratesOf(
  contestants: readonly Contestant[],
  shape: Omit<LoadShape, "messages">,
  { rounds, seconds }: ContestLength,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rates = new Map<string, number[]>(contestants.map(({ label }) => [label, []]));
  const messages = new Map<string, number>(contestants.map(({ label }) => [label, 400]));
  // The first round finds out how fast each is, and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const contestant of contestants.filter(({ label }) => rates.has(label))) {
      const { label, afterRound } = contestant;
      const order = { ...shape, messages: messages.get(label) ?? 0 };
      const report = await reportOf(contestant, order);
      if (report === undefined) {
        rates.delete(label);
        continue;
      }
      await afterRound?.();
      const perSecond = report.copiesPerSecond;
      progress(`round ${round} of ${rounds}: ${label}: ${Math.round(perSecond)}/s`);
      const wanted = (perSecond / shape.copies) * seconds * (1 + warmShare);
      messages.set(label, Math.min(maxMessages, Math.max(400, Math.round(wanted))));
      if (round > 0) rates.get(label)?.push(perSecond);
    }
  }
  return rates;
}

async function reportOf(
  { target, onFailed }: Contestant,
  shape: LoadShape,
): Promise<LoadReport | undefined> {
  try {
    return await runLoad({ target, shape, pace: { window }, warmShare });
  } catch (cause) {
    if (onFailed === undefined) throw cause;
    onFailed(cause instanceof Error ? cause.message : "its round failed");
    return undefined;
  }
}

/** One line of a rate against another one's. */
export function rateLine(
  bench: string,
  unit: string,
  ours: readonly number[],
  peer: { readonly label: string; readonly rates: readonly number[] },
): BenchLine {
  const [value, peerValue] = [quantile(ours, 0.5), quantile(peer.rates, 0.5)];
  return {
    bench,
    value: Math.round(value),
    unit,
    samples: ours.length,
    median: Math.round(value),
    // The rate that 99 % of the rounds reached.
    p99: Math.round(quantile(ours, 0.01)),
    peer: peer.label,
    peerValue: Math.round(peerValue),
    ratio: Number((value / peerValue).toFixed(3)),
    machine: machineName(),
  };
}

/** A line for a value that has nothing to be compared with; `why` stands in the place of the peer. */
export function loneLine(
  bench: string,
  unit: string,
  samples: readonly number[],
  why: string,
): BenchLine {
  const value = Number(quantile(samples, 0.5).toFixed(2));
  return {
    bench,
    value,
    unit,
    samples: samples.length,
    median: value,
    p99: Number(quantile(samples, 0.99).toFixed(2)),
    peer: why,
    peerValue: null,
    ratio: null,
    machine: machineName(),
  };
}

/** Latency at a fixed rate. Units: ms from due to received. */
export async function latenciesAt(
  target: LoadTarget,
  perSecond: number,
  seconds: number,
): Promise<LoadReport> {
  const shape = { recipients: 50, copies: 1, publishers: 8, isReceived: true };
  const messages = Math.round(perSecond * seconds * (1 + warmShare));
  return runLoad({ target, shape: { ...shape, messages }, pace: { perSecond }, warmShare });
}

/** Whether to be short. */
export function lengthOf({ quick }: BenchOptions): ContestLength {
  return quick ? { rounds: 1, seconds: 1.5 } : { rounds: 5, seconds: 5 };
}
