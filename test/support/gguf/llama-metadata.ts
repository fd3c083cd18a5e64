/**
 * What a generated llama says about itself: its sizes, a vocabulary of bytes and whatever its maker
 * adds, and a ChatML template.
 */
import type { GgufValue } from "./gguf-file.ts";

/** Kinds of tokens in a vocabulary. */
export const tokenKinds = { normal: 1, control: 3, userDefined: 4 } as const;

/** A vocabulary: each token with its kind. */
export interface Vocabulary {
  readonly tokens: string[];
  readonly kinds: number[];
}

/** Sizes of a generated llama. */
export interface LlamaShape {
  readonly name: string;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly feedForward: number;
  readonly contextTokens: number;
  readonly ropeBase: number;
}

const chatTemplate =
  "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}";

/** The special tokens of the template; every generated vocabulary ends a turn with the last. */
export const specialTokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] as const;

/** The metadata of a file. */
export function llamaMetadata(
  shape: LlamaShape,
  { tokens, kinds }: Vocabulary,
): Readonly<Record<string, GgufValue>> {
  const id = (token: string): GgufValue => ({ u32: tokens.indexOf(token) });
  return {
    "general.architecture": "llama",
    "general.name": shape.name,
    "general.file_type": { u32: 1 },
    "llama.block_count": { u32: shape.layers },
    "llama.context_length": { u32: shape.contextTokens },
    "llama.embedding_length": { u32: shape.width },
    "llama.feed_forward_length": { u32: shape.feedForward },
    "llama.attention.head_count": { u32: shape.heads },
    "llama.attention.head_count_kv": { u32: shape.keyHeads },
    "llama.attention.layer_norm_rms_epsilon": { f32: 1e-6 },
    "llama.rope.dimension_count": { u32: shape.width / shape.heads },
    "llama.rope.freq_base": { f32: shape.ropeBase },
    "llama.vocab_size": { u32: tokens.length },
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": tokens,
    "tokenizer.ggml.token_type": { i32s: kinds },
    "tokenizer.ggml.merges": [],
    "tokenizer.ggml.bos_token_id": id("<|endoftext|>"),
    "tokenizer.ggml.eos_token_id": id("<|im_end|>"),
    "tokenizer.ggml.eot_token_id": id("<|im_end|>"),
    "tokenizer.ggml.padding_token_id": id("<|endoftext|>"),
    "tokenizer.ggml.add_bos_token": false,
    "tokenizer.chat_template": chatTemplate,
  };
}
