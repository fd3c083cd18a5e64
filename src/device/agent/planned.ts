/**
 * The planned harness: one sentence that names handles of the menu, a closed binding, and steps over
 * what is bound. Binding is pure, and what is not bound cannot be called whatever a brain says.
 *
 * A plan is made from trusted text only. Spec: docs/agent.md "One turn".
 */
import type { MenuLine, PlanReply } from "../model/port.ts";
import { expand, type Expansion } from "../skills/expand.ts";
import { parseMentions } from "../skills/mentions.ts";
import { admitHandles, isPlanningOn, type Menu, menuOf } from "../skills/registry.ts";
import { systemPrompt } from "./alignment.ts";
import { ownCallables } from "./callable.ts";
import { answerDirectly, answerWithoutSkill } from "./direct.ts";
import { trusted } from "./history.ts";
import { executionPrompt } from "./prompt.ts";
import { failureReason, runSteps } from "./steps.ts";
import type { Ending, Plan, Turn } from "./turn-parts.ts";

/** Runs a turn. `invoked`: the skill that the owner named. */
export async function runPlanned(turn: Turn, invoked: string | undefined): Promise<Ending> {
  if (invoked !== undefined) {
    turn.emit({ type: "path-chosen", path: "planned", reason: "The skill was named." });
    return await followPlan(turn, namedPlan(invoked));
  }
  if (!isPlanningOn(turn.request.registry)) {
    return await answerDirectly(turn, "No skill is on the menu, so there is nothing to plan with.");
  }
  const planned = await makePlan(turn);
  return planned.type === "ended" ? planned.ending : await followPlan(turn, planned.plan);
}

/** What the owner said in so many words. */
export function namedPlan(id: string): Plan {
  return { sentence: `I'll use @${id}, as asked.`, handles: [id], dropped: [] };
}

/** Follows a plan: binds what it names and goes on in steps. */
export async function followPlan(turn: Turn, plan: Plan): Promise<Ending> {
  const { parts, request, emit } = turn;
  emit({ type: "plan", ...plan });
  if (plan.handles.length === 0) return await answerWithoutSkill(turn, plan.sentence);
  const expansion = bind(turn, plan);
  if (request.rehearse) return { reason: "rehearsed", detail: "Nothing was called." };
  const callables = ownCallables(expansion.tools, parts.tools);
  const unavailable = [...expansion.disabled, ...expansion.unknown];
  return await runSteps(turn, {
    planned: true,
    system: executionPrompt(expansion),
    offered: () => callables,
    menu: [],
    unavailable: () => unavailable,
  });
}

/** Binds what a plan names, and tells it. */
export function bind({ request, emit }: Turn, { handles }: Plan): Expansion {
  const expansion = expand(request.registry, handles, request.withhold);
  emit({
    type: "bound",
    core: request.mode === "agent" ? ["CallTool"] : [],
    tools: expansion.tools.map(({ toolName }) => toolName),
    skills: expansion.skills.map(({ id }) => id),
    unavailable: [...expansion.disabled, ...expansion.unknown],
  });
  return expansion;
}

/** Has the brain plan over the menu. Ends the turn when it cannot, or when it is unsure. */
export async function makePlan(
  turn: Turn,
): Promise<
  | { readonly type: "plan"; readonly plan: Plan }
  | { readonly type: "ended"; readonly ending: Ending }
> {
  const { parts, request, question, signal, emit, spending } = turn;
  const { registry, alignment, history } = request;
  const menu = menuOf(registry);
  emit({ type: "path-chosen", path: "planned", reason: countText(menu.skills.length) });
  const reply = await parts.model.plan(
    {
      system: systemPrompt(alignment, menu),
      question,
      menu: menuLines(menu),
      history: trusted(history.kept),
    },
    signal,
  );
  if (reply.type === "unsure") return { type: "ended", ending: unsure(turn, reply) };
  spending.add(reply.usage);
  if (reply.type === "failed") {
    const ending = { reason: failureReason(reply), detail: `No plan: ${reply.reason}.` };
    return { type: "ended", ending };
  }
  const { admitted, dropped } = admitHandles(registry, parseMentions(reply.sentence));
  return { type: "plan", plan: { sentence: reply.sentence, handles: admitted, dropped } };
}

/** The menu as a brain plans from it: of a procedure, no more than which of the menu's tools it mentions. */
export function menuLines({ skills, tools }: Menu): readonly MenuLine[] {
  const slugs = new Set(tools.map(({ slug }) => slug));
  return [
    ...skills.map(({ id, shortDescription, detailedBody }) => ({
      handle: id,
      line: shortDescription,
      mentions: parseMentions(detailedBody).filter((slug) => slugs.has(slug)),
    })),
    ...tools.map(({ slug, description }) => ({ handle: slug, line: description })),
  ];
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

function countText(count: number): string {
  return count === 1 ? "1 skill is on the menu." : `${count} skills are on the menu.`;
}
