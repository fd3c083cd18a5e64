/**
 * The table of the static router as text: one character for every weight and one for the scale of
 * every row, so that it is a plain module, needs no asset beside the program, and is small.
 *
 * Spec: docs/agent.md "Routers".
 */

/** Learned numbers beside the table; `calibration` decides between an answer and "nothing fits". */
export interface StaticWeights {
  readonly rows: number;
  readonly dims: number;
  /** rows × (1 + dims) characters of `alphabet`: scale, then weights. */
  readonly table: string;
  /** Where small talk lies. */
  readonly none: readonly number[];
  /** Where things lie that people ask for, as a table of one row each: rivals that are on no menu. */
  readonly background: { readonly rows: number; readonly table: string };
  /** How much plain word matching counts beside the learned score. */
  readonly lexicalWeight: number;
  /** Logistic weights of `calibrationInputs`. */
  readonly calibration: readonly number[];
  /** "Nothing fits" from this probability on. */
  readonly noneAbove: number;
  /** A smaller lead over the second handle is no choice: ask. */
  readonly leadBelow: number;
}

/** A decoded table. */
export interface Table {
  readonly rows: number;
  readonly dims: number;
  readonly values: Float32Array;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const steps = 31;
// Scales are powers of two in quarter steps: 2^-12 … 2^3.75.
const scaleOf = (symbol: number): number => 2 ** (symbol / 4 - 12);

/** Writes a table. Each row is rounded to 63 steps of its own scale. */
export function encodeTable({ rows, dims, values }: Table): string {
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
  return text;
}

/** Reads a table. Throws when it has another size than announced: a damaged build. */
export function decodeTable(weights: Pick<StaticWeights, "rows" | "dims" | "table">): Table {
  const { rows, dims, table } = weights;
  if (table.length !== rows * (dims + 1)) {
    throw new Error(`expected ${rows * (dims + 1)} characters of weights, got ${table.length}`);
  }
  const symbols = new Map(Array.from(alphabet).map((character, value) => [character, value]));
  const values = new Float32Array(rows * dims);
  for (let row = 0, at = 0; row < rows; row += 1) {
    const scale = scaleOf(symbols.get(table.charAt(at)) ?? 0) / steps;
    at += 1;
    for (let dim = 0; dim < dims; dim += 1, at += 1) {
      values[row * dims + dim] = ((symbols.get(table.charAt(at)) ?? steps) - steps) * scale;
    }
  }
  return { rows, dims, values };
}
