/**
 * Turns that may not act: `plan` says what would be followed and called, `goal` restates the question as a
 * goal with criteria of success. Both end as proposals; acting on one is a turn of its own, which the
 * owner starts by approving it.
 *
 * No core tool exists here, so nothing can be loaded or called. Spec: docs/agent.md "Modes".
 */
import { isPlanningOn } from "../skills/registry.ts";
import { systemPrompt } from "./alignment.ts";
import { trusted } from "./history.ts";
import { bind, makePlan, namedPlan } from "./planned.ts";
import { failureReason } from "./steps.ts";
import type { Ending, Plan, Turn } from "./turn-parts.ts";

/** Proposes a plan. `invoked`: the skill that the owner named. */
export async function proposePlan(turn: Turn, invoked: string | undefined): Promise<Ending> {
  if (invoked !== undefined) {
    turn.emit({ type: "path-chosen", path: "planned", reason: "The skill was named." });
    return showPlan(turn, namedPlan(invoked));
  }
  if (!isPlanningOn(turn.request.registry)) {
    const reason = "No skill is on the menu, so there is nothing to plan with.";
    turn.emit({ type: "path-chosen", path: "direct", reason });
    turn.emit({ type: "answer", text: reason });
    return { reason: "answered", detail: "Nothing was called." };
  }
  const planned = await makePlan(turn);
  return planned.type === "ended" ? planned.ending : showPlan(turn, planned.plan);
}

function showPlan(turn: Turn, plan: Plan): Ending {
  turn.emit({ type: "plan", ...plan });
  if (plan.handles.length === 0) {
    turn.emit({ type: "answer", text: `${plan.sentence}\nNo skill is needed for it.` });
    return { reason: "answered", detail: "Nothing was called." };
  }
  const { skills, tools } = bind(turn, plan);
  const follow = skills.map(({ id }) => `@${id}`).join(", ");
  const call = tools.map(({ toolName }) => toolName).join(", ");
  turn.emit({
    type: "answer",
    text: [
      plan.sentence,
      ...(follow === "" ? [] : [`It would follow: ${follow}.`]),
      `It could call: ${call === "" ? "nothing" : call}.`,
    ].join("\n"),
  });
  return proposed;
}

/** Restates the question as a goal. */
export async function proposeGoal(turn: Turn): Promise<Ending> {
  const { parts, request, question, signal, emit, spending } = turn;
  const reason = "A goal is restated before anything is done.";
  emit({ type: "path-chosen", path: "direct", reason });
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  const document = systemPrompt(request.alignment, { skills: [], tools: [] });
  const reply = await parts.model.answer(
    {
      system: `${document}\n\n${goalInstructions}`,
      question,
      reason,
      task: "goal",
      history: trusted(request.history.kept),
      onToken: (text) => emit({ type: "token", text }),
    },
    signal,
  );
  spending.add(reply.usage);
  if (reply.type === "failed") {
    return { reason: failureReason(reply), detail: `No goal: ${reply.reason}.` };
  }
  emit({ type: "answer", text: reply.text });
  return proposed;
}

const proposed: Ending = {
  reason: "proposed",
  detail: "Nothing was called: this waits for the owner's approval.",
};

const goalInstructions =
  "Do not answer and do not act. Restate what the owner wants as one goal, then list two to five criteria by which anyone can tell that it is reached.";
