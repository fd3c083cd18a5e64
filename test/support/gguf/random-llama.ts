/**
 * A tiny llama of random weights, about 0.3 MB, with a vocabulary of bytes: it talks nonsense at a
 * token a millisecond, which is what limits, aborts, grammars and token counts are tested with.
 */
import { byteAlphabet, type GgufTensor, writeGguf } from "./gguf-file.ts";
import { llamaMetadata, type LlamaShape, specialTokens, tokenKinds } from "./llama-metadata.ts";

const shape: LlamaShape = {
  name: "random",
  layers: 2,
  width: 64,
  heads: 4,
  keyHeads: 2,
  feedForward: 128,
  contextTokens: 4_096,
  ropeBase: 10_000,
};

/** The file's bytes; the same seed gives the same file. */
export function randomLlama(seed = 1): Buffer {
  const bytes = byteAlphabet();
  const tokens = [...bytes, ...specialTokens];
  const kinds = tokens.map((_, at) => (at < bytes.length ? tokenKinds.normal : tokenKinds.control));
  const normal = normalNumbers(seed);
  const random = (name: string, dims: readonly [number, number], scale = 0.05): GgufTensor => ({
    name,
    dims,
    values: Float32Array.from({ length: dims[0] * dims[1] }, () => normal() * scale),
  });
  const ones = (name: string): GgufTensor => ({
    name,
    dims: [shape.width],
    values: new Float32Array(shape.width).fill(1),
  });
  const { width, feedForward } = shape;
  const keyWidth = (width / shape.heads) * shape.keyHeads;
  const layers = Array.from({ length: shape.layers }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    random(`blk.${layer}.attn_q.weight`, [width, width]),
    random(`blk.${layer}.attn_k.weight`, [width, keyWidth]),
    random(`blk.${layer}.attn_v.weight`, [width, keyWidth]),
    random(`blk.${layer}.attn_output.weight`, [width, width]),
    ones(`blk.${layer}.ffn_norm.weight`),
    random(`blk.${layer}.ffn_gate.weight`, [width, feedForward]),
    random(`blk.${layer}.ffn_up.weight`, [width, feedForward]),
    random(`blk.${layer}.ffn_down.weight`, [feedForward, width]),
  ]);
  return writeGguf(llamaMetadata(shape, { tokens, kinds }), [
    random("token_embd.weight", [width, tokens.length], 1),
    ones("output_norm.weight"),
    random("output.weight", [width, tokens.length]),
    ...layers.flat(),
  ]);
}

/** Normally distributed numbers from a seed (mulberry32, then Box and Muller). */
function normalNumbers(seed: number): () => number {
  let state = seed;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}
