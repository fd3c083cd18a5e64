/**
 * One turn: choose the path, plan, bind, execute, and tell every step as an event. Binding is pure,
 * and what is not bound cannot be called whatever a brain says. Every guard has its own stop reason,
 * and every turn ends with one `stopped`.
 *
 * It stores nothing (the trace is its return value) and holds no grants: those are the tools' own.
 * Spec: docs/agent.md "One turn".
 */
import type { PlanReply } from "../model/port.ts";
import { expand, type Expansion } from "../skills/expand.ts";
import { parseMentions } from "../skills/mentions.ts";
import { admitHandles, isPlanningOn, menuOf } from "../skills/registry.ts";
import { systemPrompt } from "./alignment.ts";
import type { AgentEvent } from "./events.ts";
import { execute } from "./execute.ts";
import { invokedSkill } from "./invocation.ts";
import { untilStopped } from "./limits.ts";
import type { Ending, Turn, TurnParts, TurnRequest } from "./turn-parts.ts";

/** Runs a turn to its end. Returns the trace. */
export async function runTurn(
  parts: TurnParts,
  request: TurnRequest,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent): void => {
    events.push(event);
    request.onEvent?.(event);
  };
  const { runId, question } = request;
  emit({
    type: "turn-started",
    runId,
    question,
    brain: parts.model.name,
    atMs: parts.clock.nowMs(),
  });
  const invoked = invokedSkill(request.registry, question);
  const ending = await untilStopped(parts, request.signal, async (signal) => {
    // A brain or tool that does not listen to the signal may still end later: nothing of it is told.
    const tell = (event: AgentEvent): void => (signal.aborted ? undefined : emit(event));
    const turn: Turn = { parts, request, question: invoked?.rest ?? question, signal, emit: tell };
    return invoked === undefined ? planned(turn) : named(turn, invoked.id);
  });
  emit({ type: "stopped", ...ending });
  return events;
}

async function planned(turn: Turn): Promise<Ending> {
  const { parts, request, question, signal, emit } = turn;
  const { registry, alignment } = request;
  if (!isPlanningOn(registry)) {
    return direct(turn, "No skill is on the menu, so there is nothing to plan with.");
  }
  const menu = menuOf(registry);
  emit({ type: "path-chosen", path: "planned", reason: countText(menu.skills.length) });
  const reply = await parts.model.plan(
    {
      system: systemPrompt(alignment, menu),
      question,
      menu: [
        ...menu.skills.map((skill) => ({ handle: skill.id, line: skill.shortDescription })),
        ...menu.tools.map((tool) => ({ handle: tool.slug, line: tool.description })),
      ],
    },
    signal,
  );
  if (reply.type === "failed")
    return { reason: "model-failed", detail: `No plan: ${reply.reason}.` };
  if (reply.type === "unsure") return unsure(turn, reply);
  const { admitted, dropped } = admitHandles(registry, parseMentions(reply.sentence));
  emit({ type: "plan", sentence: reply.sentence, handles: admitted, dropped });
  return admitted.length === 0 ? answerDirectly(turn, reply.sentence) : bind(turn, admitted);
}

function unsure(
  { emit }: Turn,
  { handles }: Extract<PlanReply, { readonly type: "unsure" }>,
): Ending {
  emit({ type: "plan", sentence: "Several skills could be meant.", handles: [], dropped: [] });
  const choices = handles.map((handle) => `  @${handle}`).join("\n");
  emit({
    type: "answer",
    text: `Which of these do you mean?\n${choices}\n\nAsk again in other words, or name a skill: /${handles[0] ?? ""} …`,
  });
  return { reason: "unsure", detail: "Nothing was called." };
}

function named(turn: Turn, id: string): Promise<Ending> {
  const sentence = `I'll use @${id}, as asked.`;
  turn.emit({ type: "path-chosen", path: "planned", reason: "The skill was named." });
  turn.emit({ type: "plan", sentence, handles: [id], dropped: [] });
  return bind(turn, [id]);
}

async function bind(turn: Turn, handles: readonly string[]): Promise<Ending> {
  const { request, emit } = turn;
  const expansion = expand(request.registry, handles, request.withhold);
  emit({ type: "bound", ...boundNames(expansion) });
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  return execute(turn, expansion);
}

function boundNames({ tools, skills, disabled, unknown }: Expansion): {
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly unavailable: readonly string[];
} {
  return {
    tools: tools.map(({ toolName }) => toolName),
    skills: skills.map(({ id }) => id),
    unavailable: [...disabled, ...unknown],
  };
}

function direct(turn: Turn, reason: string): Promise<Ending> {
  turn.emit({ type: "path-chosen", path: "direct", reason });
  return answerDirectly(turn, reason);
}

async function answerDirectly(turn: Turn, reason: string): Promise<Ending> {
  const { parts, request, question, signal, emit } = turn;
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  const system = systemPrompt(request.alignment, { skills: [], tools: [] });
  const reply = await parts.model.answer({ system, question, reason }, signal);
  if (reply.type === "failed")
    return { reason: "model-failed", detail: `No answer: ${reply.reason}.` };
  emit({ type: "answer", text: reply.text });
  return { reason: "answered", detail: "Nothing was called." };
}

function countText(count: number): string {
  return count === 1 ? "1 skill is on the menu." : `${count} skills are on the menu.`;
}
