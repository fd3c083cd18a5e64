/**
 * What is known beforehand about a choice of words, added to what a model makes of it: the tokens in
 * which the words part are favoured by so much. With greedy decoding the reply is then the word whose
 * likelihood and favour together are greatest, as if the one were independent evidence of the other.
 *
 * Does not decide what may be said: that is the grammar. Spec: docs/agent.md "Routers".
 */
import type { LlamaModel, TokenBias } from "node-llama-cpp";

import type { Binding } from "./binding.ts";

/** A choice of words in a reply. */
export interface Leaning {
  /** What the reply says before the word, and after it: with a word they are cut into other tokens. */
  readonly before: string;
  readonly after: string;
  readonly words: readonly Favoured[];
}

/** A word, and how much it is favoured. Units: logits, ≥ 0. */
export interface Favoured {
  readonly word: string;
  readonly favour: number;
}

/** What the parts of an engine are needed for. */
interface Tokens {
  readonly binding: Pick<Binding, "TokenBias">;
  readonly model: LlamaModel;
}

/** The leaning as the sampler takes it. */
export function biasOf({ binding, model }: Tokens, leaning: Leaning): TokenBias {
  const bias = new binding.TokenBias(model.tokenizer);
  const paths = leaning.words.map(({ word, favour }) => ({
    tokens: model.tokenize(`${leaning.before}${word}${leaning.after}`, false, "trimLeadingSpace"),
    favour,
  }));
  for (const [token, logit] of favours(paths)) bias.set(token, { logit });
  return bias;
}

/** A word as tokens. */
interface Path<T> {
  readonly tokens: readonly T[];
  readonly favour: number;
}

/** Tokens with their favour: of every token in which paths part, the greatest that leads through it. */
export function favours<T>(paths: readonly Path<T>[], at = 0): ReadonlyMap<T, number> {
  const found = new Map<T, number>();
  const favour = (token: T, by: number): void =>
    void found.set(token, Math.max(by, found.get(token) ?? 0));
  const nexts = new Set(paths.flatMap(({ tokens }) => tokens.slice(at, at + 1)));
  for (const token of nexts) {
    const through = paths.filter(({ tokens }) => tokens[at] === token);
    if (through.length < paths.length) favour(token, Math.max(...through.map((one) => one.favour)));
    if (through.length > 1) for (const [later, by] of favours(through, at + 1)) favour(later, by);
  }
  return found;
}
