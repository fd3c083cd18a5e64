/**
 * One sequence of the engine and what it remembers: a prompt that begins like the last one is not
 * evaluated again from its start. One generation at a time; others wait in line, within a bound.
 *
 * Owns the loop: prefill in chunks, then token by token under a grammar, with an abort heard between
 * any two. It knows nothing of plans and calls. Spec: docs/agent.md "The engine".
 */
import type { Llama, LlamaContextSequence, LlamaModel, Token, TokenBias } from "node-llama-cpp";

import type { OnToken, Usage } from "../port.ts";
import type { Binding } from "./binding.ts";
import { biasOf, type Leaning } from "./leaning.ts";

/** What a reply may be. */
export interface Guide {
  /** GBNF; the grammar ends the reply by itself. */
  readonly grammar: string;
  /**
   * Looks at the text so far and says what has to follow, so that it need not be generated token by
   * token, and the grammar of what comes after; no grammar: nothing does.
   */
  readonly resume?: (text: string) => Forced | undefined;
  /** What is known beforehand about how the reply begins, until `resume` says what follows. */
  readonly leaning?: Leaning;
}

/** Text that has to follow. */
export interface Forced {
  readonly text: string;
  readonly grammar: string | undefined;
}

/** One generation. */
export interface Generation {
  readonly prompt: readonly Token[];
  /** `undefined`: free text. */
  readonly guide: Guide | undefined;
  readonly maxTokens: number;
  /** Hears the whole text so far, after every token. */
  readonly onText?: OnToken;
}

/** What came of it: the end of the reply, its limit, or an abort. */
export interface Generated {
  readonly text: string;
  readonly stop: "end" | "tokens" | "aborted";
  readonly usage: Usage;
}

/** Tokens that are evaluated between two looks at the signal: about a second of a slow machine. */
const chunkTokens = 64;

/** What a lane is made of. */
export interface LaneParts {
  readonly binding: Binding;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly sequence: LlamaContextSequence;
  /** Units: ms. */
  readonly nowMs: () => number;
}

/** Runs one generation. Whoever calls sees to it that no other is running in the sequence. */
export async function generate(
  parts: LaneParts,
  generation: Generation,
  signal: AbortSignal,
): Promise<Generated> {
  const startedMs = parts.nowMs();
  const { prompt } = generation;
  const evaluatedTokens = await prefill(parts.sequence, prompt, signal);
  const { tokens, stop } = signal.aborted
    ? { tokens: [], stop: "aborted" as const }
    : await decode(parts, generation, signal);
  return {
    text: parts.model.detokenize(tokens),
    stop,
    usage: {
      promptTokens: prompt.length,
      evaluatedTokens,
      completionTokens: tokens.length,
      ms: parts.nowMs() - startedMs,
    },
  };
}

/** Brings the sequence to the prompt but its last token, in chunks. Returns how many are evaluated. */
async function prefill(
  sequence: LlamaContextSequence,
  prompt: readonly Token[],
  signal: AbortSignal,
): Promise<number> {
  const { firstDifferentIndex } = sequence.compareContextTokens([...prompt]);
  // The last token is evaluated again in any case: what follows it is asked for.
  const kept = Math.min(firstDifferentIndex, prompt.length - 1);
  if (sequence.nextTokenIndex > kept) {
    await sequence.eraseContextTokenRanges([{ start: kept, end: sequence.nextTokenIndex }]);
  }
  for (let at = kept; at < prompt.length - 1; at += chunkTokens) {
    if (signal.aborted) return at - kept;
    const chunk = prompt.slice(at, Math.min(at + chunkTokens, prompt.length - 1));
    await sequence.evaluateWithoutGeneratingNewTokens(chunk);
  }
  return prompt.length - kept;
}

interface Decoded {
  readonly tokens: readonly Token[];
  readonly stop: Generated["stop"];
}

async function decode(
  parts: LaneParts,
  generation: Generation,
  signal: AbortSignal,
): Promise<Decoded> {
  const { prompt, guide } = generation;
  const tokens: Token[] = [];
  let last = prompt.slice(-1);
  let rule = openingRule(parts, guide);
  let forced = guide?.resume?.("");
  for (;;) {
    const filled =
      forced === undefined ? [] : parts.model.tokenize(forced.text, false, "trimLeadingSpace");
    tokens.push(...filled);
    if (forced !== undefined && forced.grammar === undefined) return { tokens, stop: "end" };
    // Each stretch has a grammar of its own: what was filled in is not in it.
    if (forced !== undefined) rule = { grammar: forced.grammar, bias: undefined };
    const stretch = sample(parts, [...last, ...filled], rule);
    const end = await speak(parts, { stretch, tokens, generation }, signal);
    if (typeof end === "string") return { tokens, stop: end };
    last = tokens.slice(-1);
    forced = end;
  }
}

interface Speech {
  readonly stretch: AsyncGenerator<Token>;
  /** Grows. */
  readonly tokens: Token[];
  readonly generation: Generation;
}

/** Takes tokens until the reply ends, or something has to follow that need not be generated. */
async function speak(
  { model }: LaneParts,
  { stretch, tokens, generation: { guide, maxTokens, onText } }: Speech,
  signal: AbortSignal,
): Promise<Generated["stop"] | Forced> {
  for await (const token of stretch) {
    if (model.isEogToken(token)) return "end";
    tokens.push(token);
    const text = model.detokenize(tokens);
    onText?.(text);
    if (signal.aborted) return "aborted";
    if (tokens.length >= maxTokens) return "tokens";
    const forced = guide?.resume?.(text);
    if (forced !== undefined) return forced;
  }
  return "end";
}

/** What a stretch of a reply may be, and what it leans to. */
interface Rule {
  readonly grammar: string | undefined;
  readonly bias: TokenBias | undefined;
}

function openingRule(parts: LaneParts, guide: Guide | undefined): Rule {
  const leaning = guide?.leaning;
  return {
    grammar: guide?.grammar,
    bias: leaning === undefined ? undefined : biasOf(parts, leaning),
  };
}

function sample(
  { binding, llama, model, sequence }: LaneParts,
  tokens: readonly Token[],
  { grammar, bias }: Rule,
): AsyncGenerator<Token> {
  const options = {
    temperature: 0,
    yieldEogToken: true,
    ...(bias === undefined ? {} : { tokenBias: bias }),
  };
  if (grammar === undefined) return sequence.evaluate([...tokens], options);
  const grammarEvaluationState = new binding.LlamaGrammarEvaluationState({
    model,
    grammar: new binding.LlamaGrammar(llama, { grammar }),
  });
  return sequence.evaluate([...tokens], { ...options, grammarEvaluationState });
}
