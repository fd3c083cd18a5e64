/**
 * `memory-search`: a search of the memory log by words, over 1,000,000 lines in an encrypted store on
 * disk, and one by meaning over 100,000 vectors. Peer of both: the limit of 50 ms.
 *
 * Words are drawn as in prose, few often and most rarely; questions have one to three of them, common
 * and rare alike. The embedding of a question is the model's time and not in it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { searchMemory } from "../src/device/sources/memory-log.ts";
import { indexedText } from "../src/device/sources/search-words.ts";
import { createVectorScan, toBytes } from "../src/device/sources/vector-scan.ts";
import { addMemoryRow } from "../src/device/store/memory.ts";
import { openDataFolder } from "../src/device/store/open-folder.ts";
import type { DeviceStore } from "../src/device/store/sqlite.ts";
import { type Bench, type BenchOptions, machineName, progress, quantile } from "./bench.ts";

const limitMs = 50;
const shown = 20;
/** Of MiniLM. */
const dimensions = 384;
const vocabulary = 30_000;
const wordsInLine = 12;

/** The benchmark. */
export const memorySearch: Bench = { name: "memory-search", run };

async function run(options: BenchOptions): Promise<void> {
  await byWords(options);
  byMeaning(options);
}

async function byWords({ quick, emit }: BenchOptions): Promise<void> {
  const lines = quick ? 50_000 : 1_000_000;
  const dataDir = mkdtempSync(path.join(tmpdir(), "pixie-bench-"));
  try {
    const keySource = { type: "passphrase", passphrase: "bench" } as const;
    const opened = await openDataFolder({ dataDir, keySource, onNotice: () => undefined });
    if (!opened.ok) throw new Error(opened.error.message);
    const { store, close } = opened.value;
    const draw = seeded(1);
    fill(store, lines, draw);
    const samples = Array.from({ length: quick ? 200 : 1_000 }, () => {
      const question = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => word(draw)).join(
        " ",
      );
      return timed(() => store.read((tx) => searchMemory(tx, question, shown)));
    });
    report(emit, `ms per search by words, ${lines} lines`, samples);
    close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

function byMeaning({ quick, emit }: BenchOptions): void {
  const vectors = quick ? 10_000 : 100_000;
  const scan = createVectorScan(dimensions);
  const draw = seeded(2);
  const vector = (): Float32Array => Float32Array.from({ length: dimensions }, () => draw() - 0.5);
  for (let row = 0; row < vectors; row += 1) {
    const { bytes, scale } = toBytes(vector());
    scan.add(row, new Uint8Array(bytes.buffer), scale);
  }
  const samples = Array.from({ length: quick ? 30 : 200 }, () => {
    const asked = vector();
    return timed(() => scan.nearest(asked, shown));
  });
  report(emit, `ms per search by meaning, ${vectors} vectors`, samples);
}

function report(emit: BenchOptions["emit"], unit: string, samples: readonly number[]): void {
  const p99 = quantile(samples, 0.99);
  emit({
    bench: "memory-search",
    value: p99,
    unit,
    samples: samples.length,
    median: quantile(samples, 0.5),
    p99,
    peer: "limit of 50 ms",
    peerValue: limitMs,
    ratio: p99 / limitMs,
    machine: machineName(),
  });
}

function fill(store: DeviceStore, lines: number, draw: () => number): void {
  const batch = 10_000;
  for (let first = 0; first < lines; first += batch) {
    store.write((tx) => {
      for (let line = first; line < Math.min(first + batch, lines); line += 1) {
        const text = Array.from({ length: wordsInLine }, () => word(draw)).join(" ");
        const source = { source: "run", sourceId: `${line}`, conversation: "" } as const;
        addMemoryRow(
          tx,
          { ...source, atMs: line, author: "bench", foreign: false, text },
          indexedText(text),
        );
      }
    });
    if (first % 100_000 === 0) progress(`memory-search: ${first} of ${lines} lines`);
  }
}

/** Few words come often, most rarely: the rank is the inverse of an even draw. */
function word(draw: () => number): string {
  return `w${Math.floor(vocabulary ** draw()).toString(36)}`;
}

/** Units: ms. */
function timed(work: () => unknown): number {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
}

/** Numbers from 0 up to 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}
