/**
 * One turn: takes the question as it was typed, runs it in its mode and harness, and tells every step as
 * an event. Every guard has its own stop reason, and every turn ends with one `stopped`.
 *
 * It stores nothing (the trace is its return value) and holds no grants: those are the tools' own.
 * Spec: docs/agent.md "One turn".
 */
import type { AgentEvent } from "./events.ts";
import { invokedSkill } from "./invocation.ts";
import { untilStopped } from "./limits.ts";
import { judgeMenu } from "./menu-budget.ts";
import { followPlan, runPlanned } from "./planned.ts";
import { proposeGoal, proposePlan } from "./propose.ts";
import { runResident } from "./resident.ts";
import { createSpending } from "./spending.ts";
import type { Ending, Turn, TurnParts, TurnRequest } from "./turn-parts.ts";

/** Runs a turn to its end. Returns the trace. */
export async function runTurn(
  parts: TurnParts,
  request: TurnRequest,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent): void => {
    if (event.type !== "token") events.push(event);
    request.onEvent?.(event);
  };
  emit(started(parts, request));
  const ending = await untilStopped(parts, request.signal, async (signal, pause) => {
    // A brain or tool that does not listen to the signal may still end later: nothing of it is told.
    const tell = (event: AgentEvent): void => (signal.aborted ? undefined : emit(event));
    const spending = createSpending();
    const { question } = request;
    return await run({ parts, request, question, signal, pause, spending, emit: tell });
  });
  emit({ type: "stopped", ...ending });
  return events;
}

function started({ model, clock }: TurnParts, request: TurnRequest): AgentEvent {
  const { runId, question, mode, harness, history } = request;
  return {
    type: "turn-started",
    runId,
    question,
    brain: model.name,
    mode,
    harness,
    earlier: history.kept.length,
    tainted: history.kept.some(({ untrusted }) => untrusted),
    atMs: clock.nowMs(),
  };
}

async function run(turn: Turn): Promise<Ending> {
  const { request, emit } = turn;
  const { registry, mode, harness, history, approved } = request;
  if (history.kept.length < history.total) {
    const text = `The brain is told the newest ${history.kept.length} of ${history.total} earlier exchanges.`;
    emit({ type: "notice", text });
  }
  const tooLarge = judgeMenu(turn);
  if (tooLarge !== undefined) return tooLarge;
  if (approved !== undefined) {
    emit({ type: "path-chosen", path: "planned", reason: "The owner approved this plan." });
    return await followPlan(turn, approved);
  }
  if (mode === "goal") return await proposeGoal(turn);
  const invoked = invokedSkill(registry, turn.question);
  const asked: Turn = invoked === undefined ? turn : { ...turn, question: invoked.rest };
  if (mode === "plan") return await proposePlan(asked, invoked?.skill.id);
  return harness === "resident"
    ? await runResident(asked, invoked?.skill)
    : await runPlanned(asked, invoked?.skill.id);
}
