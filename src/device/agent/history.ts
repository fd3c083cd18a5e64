/**
 * Earlier exchanges of a chat: which of them a turn is told, in what words, and what of them still
 * holds. Only the newest that fit are kept, and what is left out is told.
 *
 * A plan is made from trusted text only, so answers that hold words of others are not in its history.
 * Spec: docs/agent.md "Chats".
 */
import type { EarlierExchange } from "../model/port.ts";
import { type AgentEvent, answerOf } from "./events.ts";
import { cutVisibly, marked } from "./untrusted.ts";

/** One earlier turn of a chat. */
export interface Exchange {
  readonly question: string;
  readonly answer: string;
  /** The answer may repeat what others wrote. */
  readonly untrusted: boolean;
  /** On-demand tools that the turn activated. */
  readonly activated: readonly string[];
}

/** The exchanges that a turn is told. */
export interface History {
  /** Oldest first. */
  readonly kept: readonly Exchange[];
  /** How many the chat has in all. */
  readonly total: number;
}

/** No earlier exchange. */
export const noHistory: History = { kept: [], total: 0 };

/** Exchanges that are told at most. */
const maxExchanges = 20;
/** One answer in it. Units: code points. */
const maxAnswer = 2_000;

/** What a stored trace contributes to its chat; `undefined` for a turn without an answer. */
export function exchangeOf(events: readonly AgentEvent[]): Exchange | undefined {
  const question = events.find((event) => event.type === "turn-started")?.question;
  const answer = answerOf(events);
  if (question === undefined || answer === undefined) return undefined;
  return {
    question,
    answer,
    untrusted: isTainted(events),
    activated: events.flatMap((event) => (event.type === "activated" ? event.tools : [])),
  };
}

/** Whether a turn's context held words of others. */
export function isTainted(events: readonly AgentEvent[]): boolean {
  return events.some(
    (event) =>
      (event.type === "tool-result" && event.untrusted) ||
      (event.type === "turn-started" && event.tainted),
  );
}

/** Keeps the newest exchanges that fit. `tokensOf` counts, or estimates. Units: tokens. */
export function keepHistory(
  exchanges: readonly Exchange[],
  budgetTokens: number,
  tokensOf: (text: string) => number,
): History {
  let left = budgetTokens;
  const kept: Exchange[] = [];
  for (const exchange of exchanges.slice(-maxExchanges).toReversed()) {
    const [told] = spoken([exchange]);
    left -= tokensOf(`${told?.question ?? ""}\n${told?.answer ?? ""}`);
    if (left < 0) break;
    kept.unshift(exchange);
  }
  return { kept, total: exchanges.length };
}

/** The history for a step or an answer: words of others are marked. */
export function spoken(kept: readonly Exchange[]): readonly EarlierExchange[] {
  return kept.map(({ question, answer, untrusted }) => {
    const text = cutVisibly(answer, maxAnswer);
    return { question, answer: untrusted ? marked(text) : text };
  });
}

/** The history for a plan: words of others are left out, and that is said. */
export function trusted(kept: readonly Exchange[]): readonly EarlierExchange[] {
  return kept.map(({ question, answer, untrusted }) => ({
    question,
    answer: untrusted
      ? "(This answer holds words of others and is left out here.)"
      : cutVisibly(answer, maxAnswer),
  }));
}
