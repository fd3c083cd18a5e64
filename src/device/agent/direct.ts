/**
 * The direct path: no skill serves the question, so the brain answers it from its instructions and the
 * chat alone. Nothing is bound and nothing is called.
 *
 * Spec: docs/agent.md "One turn".
 */
import { systemPrompt } from "./alignment.ts";
import { spoken } from "./history.ts";
import { failureReason } from "./steps.ts";
import type { Ending, Turn } from "./turn-parts.ts";

/** Chooses the path and answers. */
export function answerDirectly(turn: Turn, reason: string): Promise<Ending> {
  turn.emit({ type: "path-chosen", path: "direct", reason });
  return answerWithoutSkill(turn, reason);
}

/** Answers, when a plan named nothing. */
export async function answerWithoutSkill(turn: Turn, reason: string): Promise<Ending> {
  const { parts, request, question, signal, emit, spending } = turn;
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  const reply = await parts.model.answer(
    {
      system: systemPrompt(request.alignment, { skills: [], tools: [] }),
      question,
      reason,
      task: "answer",
      history: spoken(request.history.kept),
      onToken: (text) => emit({ type: "token", text }),
    },
    signal,
  );
  spending.add(reply.usage);
  if (reply.type === "failed") {
    return { reason: failureReason(reply), detail: `No answer: ${reply.reason}.` };
  }
  emit({ type: "answer", text: reply.text });
  return { reason: "answered", detail: "Nothing was called." };
}
