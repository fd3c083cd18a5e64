/**
 * Vectors of one source side by side in memory, and the nearest of them by looking at every one. No
 * index: 100,000 vectors of 384 bytes are 38 MB, and one look at all of them stays below 50 ms.
 *
 * Components are signed bytes: a quarter of the memory, and faster to read than floats. Spec:
 * docs/sources.md "Search by meaning".
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
  let held = 0;
  let rows = new Float64Array(firstRoom);
  let scales = new Float32Array(firstRoom);
  let values = new Int8Array(firstRoom * dimensions);
  const grow = (): void => {
    const room = rows.length * 2;
    rows = copied(new Float64Array(room), rows);
    scales = copied(new Float32Array(room), scales);
    values = copied(new Int8Array(room * dimensions), values);
  };
  return {
    size: () => held,
    add: (row, vector, scale) => {
      if (vector.length !== dimensions || held >= maxScanned) return;
      if (held === rows.length) grow();
      rows[held] = row;
      scales[held] = scale;
      values.set(new Int8Array(vector.buffer, vector.byteOffset, dimensions), held * dimensions);
      held += 1;
    },
    nearest: (query, limit) => {
      const { bytes, scale } = toBytes(query);
      const scores = new Float32Array(held);
      products(values, bytes, scores);
      for (let at = 0; at < held; at += 1)
        scores[at] = (scores[at] ?? 0) * (scales[at] ?? 0) * scale;
      return best(scores, limit).map((at) => ({ row: rows[at] ?? 0, score: scores[at] ?? 0 }));
    },
  };
}

/** Every vector times the query. Whole numbers in four sums, so that no addition waits for another. */
function products(values: Int8Array, query: Int8Array, into: Float32Array): void {
  const dimensions = query.length;
  for (let at = 0, start = 0; at < into.length; at += 1, start += dimensions) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let dim = 0; dim < dimensions; dim += 4) {
      const from = start + dim;
      a = (a + Math.imul(query[dim] ?? 0, values[from] ?? 0)) | 0;
      b = (b + Math.imul(query[dim + 1] ?? 0, values[from + 1] ?? 0)) | 0;
      c = (c + Math.imul(query[dim + 2] ?? 0, values[from + 2] ?? 0)) | 0;
      d = (d + Math.imul(query[dim + 3] ?? 0, values[from + 3] ?? 0)) | 0;
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
