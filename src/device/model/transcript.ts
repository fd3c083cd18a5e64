/**
 * The messages that a language model reads: one for a plan, and for a step the calls so far with
 * their results, each as a turn of its own, so that a step's prompt begins with the whole last one.
 *
 * Words of others come marked as such from the agent. Pure.
 * Spec: docs/agent.md "What a model reads".
 */
import type {
  BoundTool,
  CompletedCall,
  DirectRequest,
  EarlierExchange,
  PlanRequest,
  StepRequest,
} from "./port.ts";

/** One turn of a conversation. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/** What a plan is made from: the Alignment document as it is, the chat so far, then the question. */
export function planMessages({ system, history, question }: PlanRequest): readonly Message[] {
  return [
    ...opening(system, history),
    {
      role: "user",
      text: `${question}\n\n${planForm}`,
    },
  ];
}

// Left to itself, a small model takes every question for one that it can answer.
const planForm =
  "Do not answer yet. Name the skill or tool above that finds this out: I'll use @name to … Only small talk needs none.";

/** What a step is made from. */
export function stepMessages(request: StepRequest): readonly Message[] {
  const { system, history, question, tools, calls } = request;
  return [
    ...opening(system, history),
    { role: "user", text: `${question}\n\n${formText(tools)}` },
    ...calls.flatMap((call, at) => callMessages(call, question, foundBefore(request, at))),
  ];
}

/** What a direct answer is made from. */
export function directMessages({ system, history, question }: DirectRequest): readonly Message[] {
  return [...opening(system, history), { role: "user", text: question }];
}

function opening(system: string, history: readonly EarlierExchange[]): readonly Message[] {
  return [
    { role: "system", text: system },
    ...history.flatMap((earlier): readonly Message[] => [
      { role: "user", text: earlier.question },
      { role: "assistant", text: earlier.answer },
    ]),
  ];
}

function formText(tools: readonly BoundTool[]): string {
  const answer = `{"answer":"…"} answers in one or two sentences`;
  return tools.length === 0
    ? `Reply in JSON: ${answer}.`
    : `Reply in JSON: {"tool":"…","args":{…}} calls one tool, ${answer}.`;
}

/** A longer result is not said again. Units: characters. */
const maxSaidAgain = 1_000;

/**
 * Once every tool has answered, what was found before the last one is said again beside it: a small
 * model reports the last place that it looked in, even an empty one.
 */
function foundBefore({ tools, calls }: StepRequest, at: number): readonly CompletedCall[] {
  const answered = new Set(calls.slice(0, at + 1).flatMap(({ tool, ok }) => (ok ? [tool] : [])));
  if (!tools.every(({ toolName }) => answered.has(toolName))) return [];
  return calls
    .slice(0, at)
    .filter(
      ({ args, found, promptText }) =>
        found > 0 && Object.keys(args).length > 0 && promptText.length <= maxSaidAgain,
    );
}

function callMessages(
  { tool, args, ok, promptText }: CompletedCall,
  question: string,
  before: readonly CompletedCall[],
): readonly Message[] {
  // What was asked stands beside every result: a small model loses it on the way otherwise.
  const next = ok
    ? `The question: ${question}`
    : "Call it rightly, or another tool, or answer that it failed.";
  const results = [
    `${ok ? `Result of ${tool}:` : `${tool} failed:`}\n${promptText}`,
    ...before.map((call) => `Found before, by ${call.tool}:\n${call.promptText}`),
  ];
  return [
    { role: "assistant", text: JSON.stringify({ tool, args }) },
    { role: "user", text: [...results, next].join("\n\n") },
  ];
}
