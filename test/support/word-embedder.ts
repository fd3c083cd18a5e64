/**
 * An embedder without weights, for tests: a text's vector counts its words, so texts that share words
 * lie close. Exact and fast; it knows nothing of meaning. Not an embedder of the product.
 */
import type { Embedder } from "../../src/device/model/embedder.ts";

/** Builds one. With few dimensions, different words may fall together. */
export function createWordEmbedder(dimensions = 256): Embedder {
  return {
    name: `words-${dimensions}`,
    dimensions,
    embed: async (texts, signal) =>
      signal.aborted
        ? { type: "failed", reason: "stopped before the texts were embedded" }
        : { type: "vectors", vectors: texts.map((text) => wordVector(text, dimensions)) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function wordVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["\u0000"]) {
    const at = hash(word) % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function hash(word: string): number {
  let value = 2_166_136_261;
  for (const char of word) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return value;
}
