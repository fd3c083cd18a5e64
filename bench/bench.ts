/**
 * What a benchmark is: a name, and a run that emits one line per result. Whatever can be compared is
 * compared in one run against its peer or limit, as a ratio (ours ÷ peer).
 *
 * How to run and read them: bench/README.md.
 */
import { cpus } from "node:os";

/** One result. `ratio` is ours ÷ peer; without a peer the three are null and `peer` says why. */
export interface BenchLine {
  readonly bench: string;
  readonly value: number;
  readonly unit: string;
  /** Measurements behind `median` and `p99`. */
  readonly samples: number;
  readonly median: number;
  readonly p99: number;
  readonly peer: string | null;
  readonly peerValue: number | null;
  readonly ratio: number | null;
  readonly machine: string;
}

/** How to run: `quick` ends within 60 s. */
export interface BenchOptions {
  readonly quick: boolean;
  readonly emit: (line: BenchLine) => void;
}

/** A benchmark. */
export interface Bench {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<void>;
}

/** The value below which a share of the samples lies. Units: `share` in 0…1. Throws without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  if (value === undefined) throw new Error("a quantile needs samples");
  return value;
}

/** What this ran on. */
export function machineName(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? "unknown"}, node ${process.versions.node}`;
}

/** Says on stderr what goes on: a full run takes long. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
