/**
 * Vectors of one source side by side in memory, and the nearest of them by looking at every one. No
 * index: 100,000 vectors of 384 bytes are 38 MB, and one look at all of them stays below 50 ms.
 *
 * Components are signed bytes, a quarter of the memory of floats, and read four at a time as one word:
 * 37 instead of 56 ms of processor time for 100,000 of them, in one run (`memory-search` in bench/).
 * Spec: docs/sources.md "Search by meaning".
 */

/** An entry and how alike it is, from −1 to 1. */
export interface Near {
  readonly row: number;
  readonly score: number;
}

/** A growing set of vectors of one size. */
export interface VectorScan {
  readonly size: () => number;
  readonly add: (row: number, vector: Uint8Array, scale: number) => void;
  /** The nearest entries, nearest first. */
  readonly nearest: (query: Float32Array, limit: number) => readonly Near[];
}

/** Vectors that a scan holds; further ones are not found by meaning. */
export const maxScanned = 100_000;
const firstRoom = 1_024;

/** Makes an empty one. */
export function createVectorScan(dimensions: number): VectorScan {
  const rowBytes = Math.ceil(dimensions / wordBytes) * wordBytes;
  let held = 0;
  let rows = new Float64Array(firstRoom);
  let scales = new Float32Array(firstRoom);
  let values = new Int8Array(firstRoom * rowBytes);
  const grow = (): void => {
    const room = rows.length * 2;
    rows = copied(new Float64Array(room), rows);
    scales = copied(new Float32Array(room), scales);
    values = copied(new Int8Array(room * rowBytes), values);
  };
  return {
    size: () => held,
    add: (row, vector, scale) => {
      if (vector.length !== dimensions || held >= maxScanned) return;
      if (held === rows.length) grow();
      rows[held] = row;
      scales[held] = scale;
      values.set(new Int8Array(vector.buffer, vector.byteOffset, dimensions), held * rowBytes);
      held += 1;
    },
    nearest: (query, limit) => {
      const { bytes, scale } = toBytes(query);
      const asked = copied(new Int8Array(rowBytes), bytes.subarray(0, dimensions));
      const scores = new Float32Array(held);
      products(new Int32Array(values.buffer), new Int32Array(asked.buffer), scores);
      for (let at = 0; at < held; at += 1)
        scores[at] = (scores[at] ?? 0) * (scales[at] ?? 0) * scale;
      return best(scores, limit).map((at) => ({ row: rows[at] ?? 0, score: scores[at] ?? 0 }));
    },
  };
}

/** Components in a word. */
const wordBytes = 4;

/**
 * Every vector times the query, four components of both out of one word each, in whichever order the
 * machine keeps them. Whole numbers in four sums, so that no addition waits for another.
 */
function products(values: Int32Array, query: Int32Array, into: Float32Array): void {
  const words = query.length;
  const asked = new Int32Array(words * wordBytes);
  query.forEach((word, at) => {
    asked.set([(word << 24) >> 24, (word << 16) >> 24, (word << 8) >> 24, word >> 24], at * 4);
  });
  for (let at = 0, start = 0; at < into.length; at += 1, start += words) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let word = 0; word < words; word += 1) {
      const four = values[start + word] ?? 0;
      const dim = word << 2;
      a = (a + Math.imul(asked[dim] ?? 0, (four << 24) >> 24)) | 0;
      b = (b + Math.imul(asked[dim + 1] ?? 0, (four << 16) >> 24)) | 0;
      c = (c + Math.imul(asked[dim + 2] ?? 0, (four << 8) >> 24)) | 0;
      d = (d + Math.imul(asked[dim + 3] ?? 0, four >> 24)) | 0;
    }
    into[at] = a + b + c + d;
  }
}

/** A vector as signed bytes, and what multiplies them back. */
export function toBytes(vector: Float32Array): {
  readonly bytes: Int8Array;
  readonly scale: number;
} {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest / 127;
  return { bytes: Int8Array.from(vector, (value) => Math.round(value / (scale || 1))), scale };
}

/** Places of the highest scores, highest first. */
function best(scores: Float32Array, limit: number): readonly number[] {
  const kept: number[] = [];
  let least = -Infinity;
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] ?? 0;
    if (kept.length === limit && score <= least) continue;
    kept.push(at);
    kept.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
    if (kept.length > limit) kept.pop();
    least = scores[kept.at(-1) ?? 0] ?? 0;
  }
  return kept;
}

function copied<T extends Float64Array | Float32Array | Int8Array>(into: T, from: T): T {
  into.set(from);
  return into;
}
