/**
 * The basic brain: a router picks a skill, the tools that the skill reaches run in the order of its
 * mentions with arguments found by rule, and their results are shown as they are. It writes no
 * sentence about anything that it was not told, and says what it is wherever it answers.
 *
 * Spec: docs/agent.md "The basic brain".
 */
import type {
  BoundTool,
  CompletedCall,
  DirectRequest,
  Model,
  PlanReply,
  PlanRequest,
  StepReply,
  StepRequest,
} from "../model/port.ts";
import { callHeading } from "./found-text.ts";
import { assertNever } from "../../shared/result.ts";
import type { Router } from "../router/port.ts";
import { preferSkills } from "../router/prefer-skills.ts";
import { contentWords } from "../router/text.ts";
import { askedDays } from "../tools/current-date.ts";
import { type Days, daysInFigures, isDateWord } from "../tools/question-dates.ts";

/** How the brain introduces itself. */
export const basicBrainAbout = "Basic brain: picks a skill and runs it; it does not converse.";

/** A brain over a router. It keeps no state. */
export function createBasicBrain(router: Router): Model {
  return {
    name: "basic",
    plan: (request, signal) => plan(router, request, signal),
    step: (request, signal) => step(router, request, signal),
    answer: async ({ reason, task }: DirectRequest) =>
      task === "goal"
        ? { type: "failed", reason: "the basic brain writes no sentences, so it restates no goal" }
        : { type: "answer", text: `${reason}\n\n${basicBrainAbout}` },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function plan(
  router: Router,
  { question, menu }: PlanRequest,
  signal: AbortSignal,
): Promise<PlanReply> {
  const ranking = await router.rank(question, menu, signal);
  if (ranking.type === "failed") return ranking;
  const { verdict } = preferSkills(ranking, menu);
  switch (verdict.type) {
    case "pick":
      return { type: "plan", sentence: `I'll use @${verdict.handle} for this.` };
    case "unsure":
      return { type: "unsure", handles: verdict.handles };
    case "none":
      return { type: "plan", sentence: "Nothing on the menu fits this question." };
    default:
      return assertNever(verdict);
  }
}

async function step(router: Router, request: StepRequest, signal: AbortSignal): Promise<StepReply> {
  const { question, tools, calls, planned } = request;
  if (!planned && calls.length === 0) {
    return await firstResidentStep(router, request, signal);
  }
  // Each tool once, in the order in which the skill mentions them.
  const made = new Set(calls.map(({ tool }) => tool));
  const following = planned ? tools : tools.filter((tool) => isToldIn(calls[0], tool));
  const next = following.find(({ toolName }) => !made.has(toolName));
  // A call whose arguments cannot be found is made without them: the refusal is then in the trace.
  if (next !== undefined) {
    return { type: "call", tool: next.toolName, args: argumentsFor(next, question, calls) };
  }
  const results = calls.filter(({ tool }) => !agentTools.has(tool)).map(callText);
  const nothing = "This skill uses no tools, and the basic brain cannot follow prose.";
  return {
    type: "answer",
    text: [...(results.length === 0 ? [nothing] : results), basicBrainAbout].join("\n\n"),
  };
}

const agentTools: ReadonlySet<string> = new Set(["Skill", "ToolSearch"]);

/** Whether a loaded skill's procedure names the tool. */
function isToldIn(first: CompletedCall | undefined, tool: BoundTool): boolean {
  return first?.tool === "Skill" && first.ok && first.text.includes(`- ${tool.signature}: `);
}

/** Loads the skill that was named, or the one that the router picks, or calls the tool that it picks. */
async function firstResidentStep(
  router: Router,
  request: StepRequest,
  signal: AbortSignal,
): Promise<StepReply> {
  const { question, menu, invoked, tools } = request;
  if (invoked !== undefined) return { type: "call", tool: "Skill", args: { id: invoked } };
  const own = tools.filter(({ toolName }) => !agentTools.has(toolName));
  const lines = own.map((tool) => ({ handle: tool.toolName, line: tool.description }));
  const ranking = await router.rank(question, [...menu, ...lines], signal);
  if (ranking.type === "failed") return ranking;
  const { verdict } = ranking;
  switch (verdict.type) {
    case "pick": {
      const tool = own.find(({ toolName }) => toolName === verdict.handle);
      return tool === undefined
        ? { type: "call", tool: "Skill", args: { id: verdict.handle } }
        : { type: "call", tool: tool.toolName, args: argumentsFor(tool, question, []) };
    }
    case "unsure":
      return {
        type: "answer",
        text: `Which of these do you mean?\n${verdict.handles.map((one) => `  /${one}`).join("\n")}`,
      };
    case "none":
      return {
        type: "answer",
        text: `Nothing on the menu fits this question.\n\n${basicBrainAbout}`,
      };
    default:
      return assertNever(verdict);
  }
}

function argumentsFor(
  tool: BoundTool,
  question: string,
  calls: readonly CompletedCall[],
): Readonly<Record<string, string>> {
  const dates = calls.find((call) => call.tool === "current_date" && call.ok)?.text;
  const days = daysInFigures(question) ?? daysTold(dates ?? "");
  const args: Record<string, string> = {};
  for (const [name, { maxLength }] of Object.entries(tool.parameters.properties)) {
    const value = valueFor(name, { question, days });
    if (value !== undefined) args[name] = Array.from(value).slice(0, maxLength).join("");
  }
  return args;
}

interface Known {
  readonly question: string;
  readonly days: Days | undefined;
}

/** The days that current_date read out of the question; without any, the next seven. */
function daysTold(dateText: string): Days | undefined {
  const line = dateText
    .split("\n")
    .find((one) => one.startsWith(`${askedDays}: `) || one.startsWith("next 7 days: "));
  const [from, to = from] = line?.match(/\d{4}-\d{2}-\d{2}/g) ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

function valueFor(parameter: string, { question, days }: Known): string | undefined {
  if (parameter === "from") return days?.from;
  if (parameter === "to") return days?.to;
  if (parameter === "device") return "all";
  return searchText(question);
}

const quoted = /["“„«]([^"“”„«»]+)["”“»]/u;
const askingWords: ReadonlySet<string> = new Set(
  "find show tell look search check know remember please know many much long often called name dig bring again".split(
    " ",
  ),
);

/** What to search for: quoted text, else the words that are neither asking nor dates, else everything. */
export function searchText(question: string): string {
  const literal = quoted.exec(question)?.[1]?.trim();
  if (literal !== undefined && literal !== "") return literal;
  const words = contentWords(question).filter(
    (word) => !askingWords.has(word) && !isDateWord(word),
  );
  return words.length === 0 ? question.trim() : words.join(" ");
}

function callText({ tool, args, ok, text, untrusted }: CompletedCall): string {
  if (!ok) return `${callHeading({ tool, args, untrusted: false })} — failed: ${text}`;
  return `${callHeading({ tool, args, untrusted })}\n${text}`;
}
