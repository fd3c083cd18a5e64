/**
 * Trains the static router's table: in every batch each request must find its own line among all
 * lines (softmax over cosines), and each line its request. Row-wise Adagrad, typed arrays, no
 * dependencies.
 */
import type { Table } from "../../src/device/router/table.ts";
import { featureRows } from "../../src/device/router/text.ts";
import type { Pair } from "./pairs.ts";
import type { Random } from "./random.ts";

/** Size of a training. */
export interface Settings {
  readonly rows: number;
  readonly dims: number;
  readonly batch: number;
  /** Spread of the first values: a piece that training never meets keeps about this much noise. */
  readonly initial: number;
  /** Share of a request's features, and of its words, that a step leaves out. */
  readonly dropped: number;
  readonly droppedWords: number;
  /** Step size at the start; it falls to a fiftieth of it. */
  readonly rate: number;
}

// Sharpness of the softmax over cosines.
const sharpness = 14;

/** Trains on the pairs once, in their order. */
export function trainTable(pairs: readonly Pair[], settings: Settings, random: Random): Table {
  const { rows, dims, batch } = settings;
  const values = Float32Array.from(
    { length: rows * dims },
    () => random.normal() * settings.initial,
  );
  const squares = new Float32Array(rows).fill(1e-6);
  const steps = Math.floor(pairs.length / batch);
  for (let step = 0; step < steps; step += 1) {
    const rate = settings.rate * (1.02 - step / steps);
    const part = pairs.slice(step * batch, (step + 1) * batch);
    const features = [
      ...part.map(({ request }) =>
        thinned(
          featureRows(thinned(request.split(" "), settings.droppedWords, random).join(" "), rows),
          settings.dropped,
          random,
        ),
      ),
      ...part.map(({ line }) => featureRows(line, rows)),
    ];
    const sums = features.map((rowsOf) => summed(values, rowsOf, dims));
    const gradients = gradientsOf(part, sums, dims);
    apply({ values, squares, dims, rate }, features, gradients);
  }
  return { rows, dims, values };
}

interface Sum {
  readonly unit: Float32Array;
  readonly length: number;
}

function summed(values: Float32Array, features: readonly number[], dims: number): Sum {
  const unit = new Float32Array(dims);
  for (const row of features) for (let k = 0; k < dims; k += 1) unit[k]! += values[row * dims + k]!;
  let squares = 0;
  for (let k = 0; k < dims; k += 1) squares += unit[k]! ** 2;
  const length = Math.sqrt(squares) || 1;
  for (let k = 0; k < dims; k += 1) unit[k]! /= length;
  return { unit, length };
}

function gradientsOf(part: readonly Pair[], sums: readonly Sum[], dims: number): Float32Array[] {
  const size = part.length;
  const logits = new Float32Array(size * size);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < size; j += 1) {
      const rival = i !== j && part[i]!.group === part[j]!.group;
      logits[i * size + j] = rival ? -1e4 : sharpness * inner(sums[i]!, sums[size + j]!, dims);
    }
  }
  const pull = new Float32Array(size * size);
  for (let i = 0; i < size; i += 1)
    softmaxInto(pull, logits, { start: i * size, stride: 1, size, target: i, share: 0.6 });
  for (let j = 0; j < size; j += 1)
    softmaxInto(pull, logits, { start: j, stride: size, size, target: j, share: 0.4 });
  const gradients = sums.map(() => new Float32Array(dims));
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < size; j += 1) {
      const force = pull[i * size + j]! * sharpness;
      if (Math.abs(force) < 1e-4) continue;
      for (let k = 0; k < dims; k += 1) {
        gradients[i]![k]! += force * sums[size + j]!.unit[k]!;
        gradients[size + j]![k]! += force * sums[i]!.unit[k]!;
      }
    }
  }
  return gradients.map((gradient, at) => throughUnit(gradient, sums[at]!, dims));
}

interface Slice {
  readonly start: number;
  readonly stride: number;
  readonly size: number;
  readonly target: number;
  readonly share: number;
}

function softmaxInto(pull: Float32Array, logits: Float32Array, slice: Slice): void {
  const { start, stride, size, target, share } = slice;
  let peak = -Infinity;
  for (let n = 0; n < size; n += 1) peak = Math.max(peak, logits[start + n * stride]!);
  let total = 0;
  for (let n = 0; n < size; n += 1) total += Math.exp(logits[start + n * stride]! - peak);
  for (let n = 0; n < size; n += 1) {
    const at = start + n * stride;
    pull[at]! += share * (Math.exp(logits[at]! - peak) / total - (n === target ? 1 : 0));
  }
}

/** The gradient before the sum was made a unit vector. */
function throughUnit(gradient: Float32Array, { unit, length }: Sum, dims: number): Float32Array {
  let along = 0;
  for (let k = 0; k < dims; k += 1) along += gradient[k]! * unit[k]!;
  for (let k = 0; k < dims; k += 1) gradient[k] = (gradient[k]! - along * unit[k]!) / length;
  return gradient;
}

interface Learning {
  readonly values: Float32Array;
  readonly squares: Float32Array;
  readonly dims: number;
  readonly rate: number;
}

function apply(
  { values, squares, dims, rate }: Learning,
  features: readonly (readonly number[])[],
  gradients: readonly Float32Array[],
): void {
  for (const [at, rows] of features.entries()) {
    const gradient = gradients[at]!;
    let square = 0;
    for (let k = 0; k < dims; k += 1) square += gradient[k]! ** 2 / dims;
    for (const row of rows) {
      squares[row]! += square;
      const stepSize = rate / Math.sqrt(squares[row]!);
      for (let k = 0; k < dims; k += 1) values[row * dims + k]! -= stepSize * gradient[k]!;
    }
  }
}

/** Leaves out some: whole words, so that no request is known by its frame alone, and features. */
function thinned<T>(items: readonly T[], share: number, random: Random): readonly T[] {
  const kept = items.filter(() => random.next() > share);
  return kept.length === 0 ? items : kept;
}

function inner(a: Sum, b: Sum, dims: number): number {
  let sum = 0;
  for (let k = 0; k < dims; k += 1) sum += a.unit[k]! * b.unit[k]!;
  return sum;
}
