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
    ...calls.flatMap((call) => callMessages(call, question)),
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

function callMessages(
  { tool, args, ok, promptText }: CompletedCall,
  question: string,
): readonly Message[] {
  // What was asked stands beside every result: a small model loses it on the way otherwise.
  const next = ok
    ? `The question: ${question}`
    : "Call it rightly, or another tool, or answer that it failed.";
  return [
    { role: "assistant", text: JSON.stringify({ tool, args }) },
    {
      role: "user",
      text: `${ok ? `Result of ${tool}:` : `${tool} failed:`}\n${promptText}\n\n${next}`,
    },
  ];
}
