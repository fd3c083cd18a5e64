/**
 * From a proposal to the turn that carries it out: an approved plan is followed as it stands, an approved
 * goal is asked together with its criteria. The approval itself is the owner's act.
 *
 * Spec: docs/agent.md "Modes".
 */
import { type AgentEvent, answerOf, stopOf } from "./events.ts";
import type { Plan } from "./turn-parts.ts";

/** What is asked in `agent` mode once a proposal is approved. */
export interface Approved {
  readonly question: string;
  /** To be followed without planning again; absent for a goal. */
  readonly plan?: Plan;
}

/** What a proposal's trace becomes; `undefined` for a trace that proposes nothing. */
export function approvedProposal(events: readonly AgentEvent[]): Approved | undefined {
  if (stopOf(events)?.reason !== "proposed") return undefined;
  const started = events.find((event) => event.type === "turn-started");
  const plan = events.find((event) => event.type === "plan");
  const answer = answerOf(events);
  if (started === undefined) return undefined;
  const { question } = started;
  if (plan !== undefined) {
    const { sentence, handles, dropped } = plan;
    return { question, plan: { sentence, handles, dropped } };
  }
  return answer === undefined
    ? undefined
    : { question: `${question}\n\nThe goal, as its owner approved it:\n${answer}` };
}
