/**
 * A llama whose weights are computed from a table of trigger words and replies, about 2 MB. It runs
 * through the real loader, template, grammar and sampler, and says exactly what was written down.
 *
 * How: triggers are tokens of their own. The line break after "assistant" attends to all triggers in
 * the prompt, and the reply whose triggers are exactly those present wins the first token; from there
 * each token names the next one.
 */
import { byteAlphabet, type GgufTensor, writeGguf } from "./gguf-file.ts";
import { llamaMetadata, specialTokens, tokenKinds, type Vocabulary } from "./llama-metadata.ts";

/** A reply, and the words that have to stand in the prompt; none: what is said otherwise. */
export interface ScriptedReply {
  readonly when: readonly string[];
  readonly say: string;
}

const headWidth = 64;
const feedForward = 32;

/** The file's bytes. Throws for more than 64 triggers, or a reply that cannot be told from others. */
export function scriptedLlama(replies: readonly ScriptedReply[], contextTokens = 4_096): Buffer {
  const vocabulary = baseVocabulary();
  const triggers = [...new Set(replies.flatMap(({ when }) => when))];
  if (triggers.length > headWidth) throw new Error(`expected at most ${headWidth} triggers`);
  const triggerIds = triggers.map((word) => add(vocabulary, word, tokenKinds.userDefined));
  const chains = replies.map(({ say }) => addChain(vocabulary, say));
  const width = Math.ceil((vocabulary.tokens.length + triggers.length) / 64) * 64;
  const shape = {
    name: "scripted",
    layers: 1,
    width,
    heads: width / headWidth,
    keyHeads: width / headWidth,
    feedForward,
    contextTokens,
    // The slowest pair of the rotation then does not turn: what is looked for counts, not where.
    ropeBase: 1e10,
  };
  return writeGguf(llamaMetadata(shape, vocabulary), [
    ...attention(vocabulary, triggerIds, width),
    outputs({ vocabulary, triggers, replies, chains, width }),
    embeddings(vocabulary.tokens.length, width),
    ...["output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"].map((name) => ({
      name,
      dims: [width],
      values: new Float32Array(width).fill(1),
    })),
    matrix("blk.0.ffn_gate.weight", feedForward, width).tensor,
    matrix("blk.0.ffn_up.weight", feedForward, width).tensor,
    matrix("blk.0.ffn_down.weight", width, feedForward).tensor,
  ]);
}

const alphabet = byteAlphabet();

function spelled(text: string): string {
  return [...Buffer.from(text)].map((byte) => alphabet[byte] ?? "").join("");
}

function baseVocabulary(): Vocabulary {
  const vocabulary: Vocabulary = { tokens: [], kinds: [] };
  for (const token of alphabet) add(vocabulary, token, tokenKinds.normal);
  for (const token of specialTokens) add(vocabulary, token, tokenKinds.control);
  return vocabulary;
}

function add({ tokens, kinds }: Vocabulary, token: string, kind: number): number {
  kinds.push(kind);
  return tokens.push(token) - 1;
}

/** Splits a reply into tokens that nothing else uses, so that each one has exactly one successor. */
function addChain(vocabulary: Vocabulary, say: string): readonly number[] {
  const words = say.match(/\s*\S+/g) ?? [];
  const pieces: string[] = [];
  let piece = "";
  for (const [at, word] of words.entries()) {
    piece += word;
    const taken = vocabulary.tokens.includes(spelled(piece)) || pieces.includes(piece);
    if (taken && at < words.length - 1) continue;
    // The last words may be taken by another reply: then they join what stands before them.
    pieces.push(taken ? `${pieces.pop() ?? ""}${piece}` : piece);
    piece = "";
  }
  if (pieces.some((one) => vocabulary.tokens.includes(spelled(one)))) {
    throw new Error(`the reply ${JSON.stringify(say)} cannot be told from another`);
  }
  return pieces.map((one) => add(vocabulary, spelled(one), tokenKinds.normal));
}

function attention(
  { tokens }: Vocabulary,
  triggerIds: readonly number[],
  width: number,
): readonly GgufTensor[] {
  // A normalised one-hot vector has this length.
  const one = Math.sqrt(width);
  const query = matrix("blk.0.attn_q.weight", width, width);
  const key = matrix("blk.0.attn_k.weight", width, width);
  const value = matrix("blk.0.attn_v.weight", width, width);
  const output = matrix("blk.0.attn_output.weight", width, width);
  const seeking = headWidth - 1;
  query.set(seeking, tokens.indexOf(spelled("\n")), 20 / one);
  for (const [at, id] of triggerIds.entries()) {
    key.set(seeking, id, Math.sqrt(headWidth) / one);
    value.set(at, id, 1 / one);
    output.set(tokens.length + at, at, 2);
  }
  return [query.tensor, key.tensor, value.tensor, output.tensor];
}

interface Table {
  readonly vocabulary: Vocabulary;
  readonly triggers: readonly string[];
  readonly replies: readonly ScriptedReply[];
  readonly chains: readonly (readonly number[])[];
  readonly width: number;
}

function outputs({ vocabulary: { tokens }, triggers, replies, chains, width }: Table): GgufTensor {
  const output = matrix("output.weight", tokens.length, width);
  const lineBreak = tokens.indexOf(spelled("\n"));
  const end = tokens.indexOf("<|im_end|>");
  for (const [at, { when }] of replies.entries()) {
    const chain = chains[at] ?? [];
    const [first = end] = chain;
    // Each trigger that a reply waits for costs a little, so that one that lacks it loses.
    output.set(first, lineBreak, when.length === 0 ? 11 : 10 - when.length / 2);
    for (const word of when) output.set(first, tokens.length + triggers.indexOf(word), 20);
    for (const [place, token] of chain.entries()) output.set(chain[place + 1] ?? end, token, 40);
  }
  return output.tensor;
}

function embeddings(count: number, width: number): GgufTensor {
  const table = matrix("token_embd.weight", count, width);
  for (let id = 0; id < count; id += 1) table.set(id, id, 1);
  return table.tensor;
}

/** A matrix of zeros, in the order of the file: `set(row, column)` joins an input to an output. */
function matrix(
  name: string,
  rows: number,
  columns: number,
): {
  readonly tensor: GgufTensor;
  readonly set: (row: number, column: number, to: number) => void;
} {
  const values = new Float32Array(rows * columns);
  return {
    tensor: { name, dims: [columns, rows], values },
    set: (row, column, to) => {
      values[row * columns + column] = to;
    },
  };
}
