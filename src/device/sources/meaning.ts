/**
 * Search by meaning over notebook and memory log: vectors of entries, made while nobody waits, and the
 * entries nearest to a question. Without an embedder there are none, and search is by words alone.
 *
 * Ranks of both are fused by whoever searches. Spec: docs/sources.md "Search by meaning".
 */
import type { Embedder } from "../model/embedder.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import {
  deleteVectorsOfOthers,
  entriesWithoutVector,
  type MeaningSource,
  newestRow,
  putVector,
  stillSays,
  vectorsAfter,
  countVectors,
} from "../store/vectors.ts";
import {
  createVectorScan,
  maxScanned,
  type Near,
  toBytes,
  type VectorScan,
} from "./vector-scan.ts";

/** Reads entries, and finds those that are near. */
export interface Meaning {
  /** Reads entries that nobody has read, within a budget. True: none is left. */
  readonly read: (budgetMs: number, signal: AbortSignal) => Promise<boolean>;
  /** Reads them all, unless it is stopped. */
  readonly readAll: (signal: AbortSignal) => Promise<void>;
  /** Entries near a question, nearest first; none without an embedder. */
  readonly nearest: (
    source: MeaningSource,
    question: string,
    signal: AbortSignal,
  ) => Promise<readonly Near[]>;
}

const sources: readonly MeaningSource[] = ["notebook", "memory"];
/** Texts in one request to the embedder, and rows in one transaction. */
const batchRows = 16;
const loadedRows = 2_000;
/** Entries that a search takes from here. */
const nearLimit = 20;
/** What is less alike than this has other words and another meaning. Cosine of MiniLM. */
const leastScore = 0.35;
/** A search reads what is new for so long before it looks. Units: ms. */
const freshBudgetMs = 300;

const stepBudgetMs = 1_000;

interface Copy {
  readonly scan: VectorScan;
  change: number;
}

/** What it is made of. */
export interface MeaningParts {
  readonly store: DeviceStore;
  readonly embedder: () => Promise<Embedder | undefined>;
  readonly nowMs: () => number;
  /** Runs when a search found more to read than it had time for. */
  readonly onUnread: () => void;
}

/** Builds it. */
export function createMeaning({ store, embedder, nowMs, onUnread }: MeaningParts): Meaning {
  const copies = new Map<MeaningSource, Copy>();
  const marks = new Map<MeaningSource, number>();
  let model: string | undefined;
  const read = async (budgetMs: number, signal: AbortSignal): Promise<boolean> => {
    const reader = await embedder();
    if (reader === undefined) return true;
    if (model !== reader.name) {
      model = reader.name;
      copies.clear();
      marks.clear();
      store.write((tx) => deleteVectorsOfOthers(tx, reader.name));
    }
    const untilMs = nowMs() + budgetMs;
    while (!signal.aborted && nowMs() <= untilMs) {
      if (!(await readBatch({ store, marks }, reader, signal))) return true;
    }
    return signal.aborted;
  };
  return {
    read,
    readAll: async (signal) => {
      for (;;) if (await read(stepBudgetMs, signal)) return;
    },
    nearest: async (source, question, signal) => {
      const reader = await embedder();
      if (reader === undefined) return [];
      if (!(await read(freshBudgetMs, signal))) onUnread();
      const asked = await reader.embed([question], signal);
      if (asked.type === "failed") return [];
      const [vector] = asked.vectors;
      if (vector === undefined) return [];
      const copy = currentCopy(store, source, copies.get(source), reader.dimensions);
      copies.set(source, copy);
      return copy.scan.nearest(vector, nearLimit).filter(({ score }) => score >= leastScore);
    },
  };
}

interface Reading {
  readonly store: DeviceStore;
  /** Lines of the log up to here were read: they are only ever added after it. */
  readonly marks: Map<MeaningSource, number>;
}

/** Reads some entries. False: there are none, or the embedder has no answer. */
async function readBatch(
  { store, marks }: Reading,
  reader: Embedder,
  signal: AbortSignal,
): Promise<boolean> {
  for (const source of sources) {
    const entries = store.read((tx) => {
      const oldest = Math.max(0, newestRow(tx, source) - maxScanned);
      const after = source === "memory" ? Math.max(oldest, marks.get(source) ?? 0) : 0;
      return entriesWithoutVector(tx, source, after, batchRows);
    });
    if (entries.length === 0) continue;
    const texts = entries.map(({ text }) => text);
    const reply = await reader.embed(texts, signal);
    if (reply.type === "failed") return false;
    store.write((tx) => {
      entries.forEach((entry, at) => {
        // It may have been edited or deleted while it was read.
        if (!stillSays(tx, source, entry)) return;
        const { bytes, scale } = toBytes(reply.vectors[at] ?? new Float32Array(0));
        const vector = Buffer.from(bytes.buffer, 0, bytes.length);
        putVector(tx, { source, row: entry.row, model: reader.name, scale, vector });
      });
    });
    marks.set(source, entries.at(-1)?.row ?? 0);
    return true;
  }
  return false;
}

/** The copy with what is new; a new one where something left, since then it is not what is stored. */
function currentCopy(
  store: DeviceStore,
  source: MeaningSource,
  known: Copy | undefined,
  dimensions: number,
): Copy {
  const load = (copy: Copy): Copy => {
    for (;;) {
      const rows = store.read((tx) => vectorsAfter(tx, source, copy.change, loadedRows));
      for (const { row, vector, scale } of rows) copy.scan.add(row, vector, scale);
      copy.change = rows.at(-1)?.change ?? copy.change;
      if (rows.length < loadedRows) return copy;
    }
  };
  const grown = known === undefined ? undefined : load(known);
  const stored = Math.min(
    store.read((tx) => countVectors(tx, source)),
    maxScanned,
  );
  if (grown?.scan.size() === stored) return grown;
  return load({ scan: createVectorScan(dimensions), change: 0 });
}

/** Rows of two rankings by the sum of 1 ÷ (60 + rank): reciprocal rank fusion. */
export function fuseRanks(rankings: readonly (readonly number[])[]): readonly number[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    ranking.forEach((row, rank) => scores.set(row, (scores.get(row) ?? 0) + 1 / (60 + rank)));
  }
  return [...scores.keys()].toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}
