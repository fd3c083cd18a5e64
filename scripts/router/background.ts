/**
 * The background of a router, from the topics that it learned: the middle of each one's requests and
 * of its lines, and small talk.
 */
import type { Background } from "../../src/device/router/judge.ts";
import { direction, type Table } from "../../src/device/router/table.ts";
import type { Topic } from "./corpus.ts";

/** Makes one; `vectorOf` gives the direction of a text. */
export function backgroundOf(
  topics: readonly Topic[],
  talk: readonly string[],
  vectorOf: (text: string) => Float32Array,
): Background {
  const middle = (texts: readonly string[]): Float32Array => {
    const vectors = texts.map(vectorOf);
    const sum = new Float32Array(vectors[0]?.length ?? 0);
    for (const vector of vectors) for (const [at, value] of vector.entries()) sum[at]! += value;
    return direction(sum);
  };
  return {
    requests: stacked(topics.map(({ requests }) => middle(requests))),
    lines: stacked(topics.map(({ lines }) => middle(lines.map(({ text }) => text)))),
    smallTalk: stacked(talk.map(vectorOf)),
  };
}

function stacked(vectors: readonly Float32Array[]): Table {
  const dims = vectors[0]?.length ?? 0;
  const values = new Float32Array(vectors.length * dims);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * dims);
  return { rows: vectors.length, dims, values };
}
