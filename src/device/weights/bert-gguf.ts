/**
 * Writes a sentence encoder that is published as safetensors (architecture BERT, WordPiece tokenizer)
 * as one GGUF file that llama.cpp reads: vectors as F32, matrices as F16, mean pooling.
 *
 * The result is the same bytes on every machine, so the catalogue pins its hash. Both inputs were
 * checked against theirs before; what is malformed here is a bug and throws.
 * Spec: the GGUF format, version 3; the safetensors format.
 */
import { open, readFile } from "node:fs/promises";

import {
  bool,
  f32,
  field,
  i32,
  listOf,
  padded,
  roundUp,
  text,
  type Typed,
  u32,
  u64,
} from "./gguf-fields.ts";

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly half: boolean;
  readonly values: Float32Array;
}

type Parsed = Readonly<Record<string, unknown>>;

const attentionHeads = 12;
const contextTokens = 512;

/** Makes `to` from the two published files. */
export async function writeBertGguf(from: {
  readonly name: string;
  readonly weights: string;
  readonly tokenizer: string;
  readonly to: string;
}): Promise<void> {
  const tensors = readTensors(await readFile(from.weights));
  const vocabulary = readVocabulary(await readFile(from.tokenizer, "utf8"));
  const width = tensors.find(({ name }) => name === "token_embd.weight")?.shape[1] ?? 0;
  const inner = tensors.find(({ name }) => name === "blk.0.ffn_up.bias")?.shape[0] ?? 0;
  const blocks = tensors.filter(({ name }) => name.endsWith("attn_q.bias")).length;
  const fields = [
    field("general.architecture", text("bert")),
    field("general.name", text(from.name)),
    field("bert.context_length", u32(contextTokens)),
    field("bert.embedding_length", u32(width)),
    field("bert.block_count", u32(blocks)),
    field("bert.feed_forward_length", u32(inner)),
    field("bert.attention.head_count", u32(attentionHeads)),
    field("bert.attention.layer_norm_epsilon", f32(1e-12)),
    field("bert.attention.causal", bool(false)),
    field("bert.pooling_type", u32(1)),
    field("general.file_type", u32(1)),
    field("bert.vocab_size", u32(vocabulary.length)),
    ...tokenizerFields(vocabulary),
  ];
  const head = headerOf(fields, tensors);
  const file = await open(from.to, "w");
  try {
    await file.write(head);
    for (const { values, half } of tensors) {
      const bytes = half ? halves(values) : new Uint8Array(values.buffer);
      await file.write(padded(bytes));
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

function tokenizerFields(vocabulary: readonly string[]): Buffer[] {
  // llama.cpp marks the start of a word with U+2581 and drops the "##" of a continuation.
  const spelled = vocabulary.map((token) => {
    if (isSpecial(token)) return token;
    return token.startsWith("##") ? token.slice(2) : `▁${token}`;
  });
  const id = (token: string): Typed => u32(vocabulary.indexOf(token));
  return [
    field(tokenizer("model"), text("bert")),
    field(tokenizer("pre"), text("default")),
    field(tokenizer("tokens"), listOf(spelled.map(text))),
    field(
      tokenizer("token_type"),
      listOf(vocabulary.map((token) => i32(isSpecial(token) ? 3 : 1))),
    ),
    field(tokenizer("scores"), listOf(vocabulary.map(() => f32(-1_000)))),
    field(tokenizer("token_type_count"), u32(2)),
    field(tokenizer("bos_token_id"), id("[CLS]")),
    field(tokenizer("eos_token_id"), id("[SEP]")),
    // The format's own spelling.
    field(tokenizer("seperator_token_id"), id("[SEP]")),
    field(tokenizer("unknown_token_id"), id("[UNK]")),
    field(tokenizer("padding_token_id"), id("[PAD]")),
    field(tokenizer("mask_token_id"), id("[MASK]")),
    field(tokenizer("add_bos_token"), bool(true)),
    field(tokenizer("add_eos_token"), bool(true)),
  ];
}

function isSpecial(token: string): boolean {
  return token.startsWith("[") && token.endsWith("]");
}

function tokenizer(name: string): string {
  return `tokenizer.ggml.${name}`;
}

/** Magic, version, counts, fields, and where each tensor lies; padded to the first tensor. */
function headerOf(fields: readonly Buffer[], tensors: readonly Tensor[]): Uint8Array {
  const placed: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, half, values } of tensors) {
    const dimensions = shape.toReversed();
    placed.push(text(name).bytes, u32(dimensions.length).bytes);
    for (const length of dimensions) placed.push(u64(length));
    placed.push(u32(half ? 1 : 0).bytes, u64(offset));
    offset += roundUp(values.length * (half ? 2 : 4));
  }
  const counts = [Buffer.from("GGUF"), u32(3).bytes, u64(tensors.length), u64(fields.length)];
  return padded(Buffer.concat([...counts, ...fields, ...placed]));
}

function readTensors(file: Buffer): Tensor[] {
  const headBytes = Number(file.readBigUInt64LE(0));
  const head: Parsed = JSON.parse(file.toString("utf8", 8, 8 + headBytes));
  return Object.entries(head).flatMap(([published, described]) => {
    const name = tensorName(published);
    if (name === undefined) return [];
    const { shape, start, end } = parsePlace(published, described);
    const values = new Float32Array((end - start) / 4);
    file.copy(Buffer.from(values.buffer), 0, 8 + headBytes + start, 8 + headBytes + end);
    const small = name === "token_types.weight" || name === "position_embd.weight";
    return [{ name, shape, half: shape.length === 2 && !small, values }];
  });
}

function parsePlace(
  name: string,
  described: unknown,
): { readonly shape: readonly number[]; readonly start: number; readonly end: number } {
  const { dtype, shape, data_offsets: offsets } = recordOf(described);
  const [start, end] = numbersOf(offsets);
  if (dtype !== "F32" || start === undefined || end === undefined) {
    throw new Error(`${name}: expected F32 values, got ${String(dtype)}`);
  }
  return { shape: numbersOf(shape), start, end };
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

const outer: Readonly<Record<string, string>> = {
  "embeddings.word_embeddings.weight": "token_embd.weight",
  "embeddings.position_embeddings.weight": "position_embd.weight",
  "embeddings.token_type_embeddings.weight": "token_types.weight",
  "embeddings.LayerNorm.weight": "token_embd_norm.weight",
  "embeddings.LayerNorm.bias": "token_embd_norm.bias",
};
const inBlock: Readonly<Record<string, string>> = {
  "attention.self.query": "attn_q",
  "attention.self.key": "attn_k",
  "attention.self.value": "attn_v",
  "attention.output.dense": "attn_output",
  "attention.output.LayerNorm": "attn_output_norm",
  "intermediate.dense": "ffn_up",
  "output.dense": "ffn_down",
  "output.LayerNorm": "layer_output_norm",
};

/** What GGUF calls it; position ids and the pooler are not needed. */
function tensorName(published: string): string | undefined {
  const found = /^encoder\.layer\.(\d+)\.(.+)\.(weight|bias)$/.exec(published);
  if (found === null) return outer[published];
  const [, block, part = "", kind] = found;
  return `blk.${block}.${inBlock[part] ?? ""}.${kind}`;
}

function readVocabulary(json: string): string[] {
  const { vocab } = recordOf(recordOf(JSON.parse(json))["model"]);
  const tokens: string[] = [];
  for (const [token, at] of Object.entries(recordOf(vocab))) tokens[Number(at)] = token;
  return tokens;
}

function recordOf(value: unknown): Parsed {
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  return Object.fromEntries(Object.entries(value));
}

/** Half precision, nearest, ties to even. */
function halves(values: Float32Array): Uint8Array {
  const bits = new Uint32Array(values.buffer);
  const out = new Uint16Array(values.length);
  for (let at = 0; at < out.length; at++) out[at] = halfOf(bits[at] ?? 0);
  return new Uint8Array(out.buffer);
}

function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent < -10) return sign;
  // Below the smallest normal half, the leading one becomes explicit and is shifted in.
  const full = exponent > 0 ? (exponent << 23) | mantissa : mantissa | 0x800000;
  const shift = exponent > 0 ? 13 : 14 - exponent;
  const kept = full >>> shift;
  const rest = full & ((1 << shift) - 1);
  const tie = 1 << (shift - 1);
  return sign | (rest > tie || (rest === tie && (kept & 1) === 1) ? kept + 1 : kept);
}
