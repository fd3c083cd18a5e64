/**
 * Tables of learned numbers as text: one character for every number and one for the scale of every
 * row, so that weights are a plain module, need no asset beside the program, and are small.
 *
 * Spec: docs/agent.md "Routers".
 */

/** A decoded table. */
export interface Table {
  readonly rows: number;
  readonly dims: number;
  readonly values: Float32Array;
}

/** A table as text. */
export interface TableText {
  readonly rows: number;
  readonly dims: number;
  /** rows × (1 + dims) characters of `alphabet`: scale, then weights. */
  readonly text: string;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const steps = 31;
// Scales are powers of two in quarter steps: 2^-12 … 2^3.75.
const scaleOf = (symbol: number): number => 2 ** (symbol / 4 - 12);

/** Writes a table. Each row is rounded to 63 steps of its own scale. */
export function encodeTable({ rows, dims, values }: Table): TableText {
  let text = "";
  for (let row = 0; row < rows; row += 1) {
    const weights = values.subarray(row * dims, (row + 1) * dims);
    const peak = Math.max(...weights.map(Math.abs));
    const exponent = peak === 0 ? 0 : Math.ceil((Math.log2(peak) + 12) * 4);
    const symbol = Math.min(63, Math.max(0, exponent));
    text += alphabet.charAt(symbol);
    for (const weight of weights) {
      const step = Math.round((weight / scaleOf(symbol)) * steps);
      text += alphabet.charAt(Math.min(steps, Math.max(-steps, step)) + steps);
    }
  }
  return { rows, dims, text };
}

/** Reads a table. Throws when it has another size than announced: a damaged build. */
export function decodeTable({ rows, dims, text }: TableText): Table {
  if (text.length !== rows * (dims + 1)) {
    throw new Error(`expected ${rows * (dims + 1)} characters of weights, got ${text.length}`);
  }
  const symbols = new Map(Array.from(alphabet).map((character, value) => [character, value]));
  const values = new Float32Array(rows * dims);
  for (let row = 0, at = 0; row < rows; row += 1) {
    const scale = scaleOf(symbols.get(text.charAt(at)) ?? 0) / steps;
    at += 1;
    for (let dim = 0; dim < dims; dim += 1, at += 1) {
      values[row * dims + dim] = ((symbols.get(text.charAt(at)) ?? steps) - steps) * scale;
    }
  }
  return { rows, dims, values };
}

/** How alike two directions are. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** The direction of a vector: length 1, or zero as it is. */
export function direction(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** A row vector times a table of as many rows. */
export function through({ dims, values }: Table, vector: Float32Array): Float32Array {
  const out = new Float32Array(dims);
  for (const [row, weight] of vector.entries()) {
    if (weight === 0) continue;
    for (let dim = 0, at = row * dims; dim < dims; dim += 1, at += 1) {
      out[dim] = (out[dim] ?? 0) + weight * (values[at] ?? 0);
    }
  }
  return out;
}
