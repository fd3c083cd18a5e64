/**
 * What a step is offered: which tools it may call, whether it may answer, and which days it may name. A
 * small model that is offered everything answers before it has looked, repeats calls, stops at the first
 * empty place, and copies dates wrongly; what it is not offered it cannot do.
 *
 * Pure. Spec: docs/agent.md "The engine".
 */
import type { BoundTool, CompletedCall, StepRequest } from "../port.ts";

/** What a step may say. */
export interface Offer {
  readonly tools: readonly BoundTool[];
  readonly answer: boolean;
  /** An answer that becomes longer is ended with an ellipsis; absent: only its tokens are limited. Units: characters. */
  readonly answerLength?: number;
  /** Days that an argument may be; empty: any. */
  readonly days: readonly string[];
}

/** Every tool and the answer, for a model that chooses well. */
export function openOffer({ tools }: StepRequest): Offer {
  return { tools, answer: true, days: [] };
}

/** Two long sentences; a small model that says more goes round in circles. Units: characters. */
const guidedAnswerLength = 480;

/** What a small model is offered: no tool twice, and no answer before something was found. */
export function guidedOffer(request: StepRequest): Offer {
  return { ...guidedChoice(request), answerLength: guidedAnswerLength };
}

function guidedChoice(request: StepRequest): Offer {
  const { tools, calls, planned } = request;
  const open = tools
    .filter((tool) => !isDone(tool, calls))
    .map((tool) => withKnownValues(tool, calls));
  const days = knownDays(request);
  if (!planned || hasFound(request) || hasFailed(calls.at(-1))) {
    return { tools: open, answer: true, days };
  }
  const [next] = open;
  // What takes no argument is there to be known before something is looked up.
  if (next !== undefined && !takesArguments(next)) return { tools: [next], answer: false, days };
  const searching = open.filter(takesArguments);
  return { tools: searching, answer: searching.length === 0, days };
}

/** A tool that answered; or that failed and can only be called in the same way again. */
function isDone(tool: BoundTool, calls: readonly CompletedCall[]): boolean {
  return calls.some((call) => call.tool === tool.toolName && (call.ok || !takesArguments(tool)));
}

/** What failed without an argument was only preparing: the search is not over by that. */
function hasFailed(call: CompletedCall | undefined): boolean {
  return call?.ok === false && Object.keys(call.args).length > 0;
}

/** Whether something that was looked up is there, and not only what comes near it. */
function hasFound({ tools, calls }: StepRequest): boolean {
  return calls.some(
    ({ tool, found, near }) =>
      found > 0 && !near && tools.some((one) => one.toolName === tool && takesArguments(one)),
  );
}

function takesArguments({ parameters }: BoundTool): boolean {
  return Object.keys(parameters.properties).length > 0;
}

/** The tool with a list of values for what has a default: that, and what was listed before. */
function withKnownValues(tool: BoundTool, calls: readonly CompletedCall[]): BoundTool {
  const properties = Object.entries(tool.parameters.properties).map(([name, parameter]) => {
    const { default: usual, listedBy } = parameter;
    if (usual === undefined) return [name, parameter] as const;
    const listed = calls
      .filter((call) => call.ok && call.tool === listedBy)
      .flatMap(({ text }) => text.split("\n").flatMap((line) => line.split(/\s/)[0] ?? []));
    return [name, { ...parameter, enum: [usual, ...listed.filter((one) => one !== "")] }] as const;
  });
  return {
    ...tool,
    parameters: { ...tool.parameters, properties: Object.fromEntries(properties) },
  };
}

/** Days that the question has, or that a trusted result told. */
function knownDays({ question, calls }: StepRequest): readonly string[] {
  const texts = [question, ...calls.flatMap(({ untrusted, text }) => (untrusted ? [] : [text]))];
  const days = texts.flatMap((text) => text.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? []);
  return [...new Set(days)].toSorted();
}
