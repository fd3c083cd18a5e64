/**
 * Fits the embedding router's two linear maps, so that a request lands near the line that serves it:
 * in every batch each request must find its own line among all (softmax over dot products). Whole
 * families stand in a batch, so that neighbours are told apart. Both maps are pulled towards the
 * identity, without which people's own skills, which no training knows, would be lost again.
 */
import type { Table } from "../../src/device/router/table.ts";
import { everyday } from "./bank.ts";
import { builtinHandles, type Topic } from "./corpus.ts";
import type { Random } from "./random.ts";

/** Steps of one training. */
const fullSteps = 80;
const familiesPerStep = 10;
const everydayPerStep = 30;
/** Sharpness of the softmax, step size, and pull towards the identity. */
const temperature = 0.07;
const rate = 0.02;
const pull = 0.03;
const firstSquare = 1e-6;

/** Trains on topics whose texts have vectors. */
export function trainMaps(
  topics: readonly Topic[],
  vectors: ReadonlyMap<string, Float32Array>,
  random: Random,
  steps = fullSteps,
): { readonly requestMap: Table; readonly lineMap: Table } {
  const dims = vectors.values().next().value?.length ?? 0;
  const requestMap = identity(dims);
  const lineMap = identity(dims);
  const squares = [requestMap, lineMap].map(({ values }) =>
    new Float32Array(values.length).fill(firstSquare),
  );
  const families = [...new Set(topics.map(({ family }) => family))].filter(
    (name) => name !== everyday,
  );
  const common = topics.filter(({ family }) => family === everyday);
  const builtin = common.filter(({ concept }) =>
    concept.handles.some((handle) => builtinHandles.includes(handle)),
  );
  for (let step = 0; step < steps; step += 1) {
    const chosen = new Set(random.shuffled(families).slice(0, familiesPerStep));
    const batch = [
      ...topics.filter(({ family }) => chosen.has(family)),
      ...random.shuffled(common).slice(0, everydayPerStep),
      ...builtin,
    ];
    const requests = batch.map((topic) => vectors.get(random.pick(topic.requests))!);
    const lines = batch.map((topic) => vectors.get(random.pick(topic.lines).text)!);
    const mapped = requests.map((vector) => times(requestMap, vector));
    const mappedLines = lines.map((vector) => times(lineMap, vector));
    const force = forces(batch, mapped, mappedLines);
    learn(requestMap, squares[0]!, requests, pulled(force, mappedLines));
    learn(lineMap, squares[1]!, lines, pulled(transposed(force), mapped));
  }
  return { requestMap, lineMap };
}

/** Trains several times and takes the mean: what two trainings differ in by chance goes. */
export function trainMeanMaps(
  topics: readonly Topic[],
  vectors: ReadonlyMap<string, Float32Array>,
  random: Random,
  trainings: number,
): { readonly requestMap: Table; readonly lineMap: Table } {
  const trained = Array.from({ length: trainings }, () => trainMaps(topics, vectors, random));
  return {
    requestMap: meanOf(trained.map(({ requestMap }) => requestMap)),
    lineMap: meanOf(trained.map(({ lineMap }) => lineMap)),
  };
}

function meanOf(tables: readonly Table[]): Table {
  const mean = identity(tables[0]?.dims ?? 0);
  for (const at of mean.values.keys()) {
    mean.values[at] = tables.reduce((sum, { values }) => sum + values[at]! / tables.length, 0);
  }
  return mean;
}

function identity(dims: number): Table {
  const values = new Float32Array(dims * dims);
  for (let at = 0; at < dims; at += 1) values[at * dims + at] = 1;
  return { rows: dims, dims, values };
}

function times({ dims, values }: Table, vector: Float32Array): Float32Array {
  const out = new Float32Array(dims);
  for (let row = 0; row < dims; row += 1) {
    const weight = vector[row]!;
    for (let dim = 0, at = row * dims; dim < dims; dim += 1, at += 1) {
      out[dim]! += weight * values[at]!;
    }
  }
  return out;
}

/** How far each request's shares are from "its own line, and no other". */
function forces(
  batch: readonly Topic[],
  requests: readonly Float32Array[],
  lines: readonly Float32Array[],
): Float32Array[] {
  return requests.map((request, i) => {
    const logits = Float32Array.from(lines, (line, j) => {
      if (i !== j && batch[i] === batch[j]) return -1e9;
      let sum = 0;
      for (let at = 0; at < line.length; at += 1) sum += line[at]! * request[at]!;
      return sum / temperature;
    });
    const peak = Math.max(...logits);
    const shares = logits.map((logit) => Math.exp(logit - peak));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map(
      (share, j) => (share / total - (i === j ? 1 : 0)) / batch.length / temperature,
    );
  });
}

function transposed(rows: readonly Float32Array[]): Float32Array[] {
  return rows.map((_, at) => Float32Array.from(rows, (row) => row[at]!));
}

function pulled(force: readonly Float32Array[], others: readonly Float32Array[]): Float32Array[] {
  return force.map((row) => {
    const out = new Float32Array(others[0]!.length);
    for (const [at, share] of row.entries()) {
      if (Math.abs(share) < 1e-6) continue;
      const other = others[at]!;
      for (let dim = 0; dim < out.length; dim += 1) out[dim]! += share * other[dim]!;
    }
    return out;
  });
}

/** One step of Adagrad. */
function learn(
  { dims, values }: Table,
  squares: Float32Array,
  inputs: readonly Float32Array[],
  gradients: readonly Float32Array[],
): void {
  const gradient = new Float32Array(dims * dims);
  for (const [n, input] of inputs.entries()) {
    const towards = gradients[n]!;
    for (let row = 0; row < dims; row += 1) {
      const weight = input[row]!;
      for (let dim = 0, at = row * dims; dim < dims; dim += 1, at += 1) {
        gradient[at]! += weight * towards[dim]!;
      }
    }
  }
  for (let at = 0; at < gradient.length; at += 1) {
    const own = at % (dims + 1) === 0 ? 1 : 0;
    const slope = gradient[at]! + pull * (values[at]! - own);
    squares[at]! += slope * slope;
    values[at]! -= (rate * slope) / Math.sqrt(squares[at]!);
  }
}
