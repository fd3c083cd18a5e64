/**
 * A turn's events as lines for a person: `runs show` and `align rehearse` print a run with them, in
 * the words and the order in which it happened.
 *
 * Spec: docs/agent.md "Events".
 */
import type { AgentEvent } from "../agent/events.ts";
import { assertNever } from "../../shared/result.ts";
import { visibleLine, visibleText } from "./visible.ts";

/** The lines of one event. Safe to print. */
export function eventLines(event: AgentEvent): readonly string[] {
  if ("step" in event) return callLines(event);
  switch (event.type) {
    case "turn-started":
      return startedLines(event);
    case "path-chosen":
      return [`path: ${event.path}. ${visibleLine(event.reason)}`];
    case "plan":
    case "bound":
      return planLines(event);
    case "notice":
      return [`note: ${visibleLine(event.text)}`];
    case "activated":
      return [`   found: ${visibleLine(event.tools.join(", "))}`];
    case "token":
      return [];
    case "answer":
      return ["answer:", ...indented(event.text)];
    case "stopped":
      return [`stopped: ${event.reason}. ${visibleLine(event.detail)}`];
    default:
      return assertNever(event);
  }
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

function startedLines(event: EventOf<"turn-started">): readonly string[] {
  const { question, brain, mode, harness, earlier } = event;
  return [
    `question: ${visibleLine(question)}`,
    `brain: ${brain}`,
    ...(mode === "agent" ? [] : [`mode: ${mode}`]),
    ...(harness === "planned" ? [] : [`harness: ${harness}`]),
    ...(earlier === 0 ? [] : [`told of before: ${earlier}`]),
  ];
}

function planLines(event: EventOf<"plan" | "bound">): readonly string[] {
  if (event.type === "plan") {
    return [
      `plan: ${visibleLine(event.sentence)}`,
      ...named("not on the menu", event.dropped, "@"),
    ];
  }
  const { skills, tools, unavailable } = event;
  return [
    ...named("follows", skills, "@"),
    `may call: ${tools.length === 0 ? "nothing" : tools.join(", ")}`,
    ...named("not available here", unavailable, "@"),
  ];
}

type CallEvent = EventOf<"approval" | "tool-call" | "tool-result">;

function callLines(event: CallEvent): readonly string[] {
  switch (event.type) {
    case "approval":
      return [`   ${event.state}: ${visibleLine(event.reason)}`];
    case "tool-call":
      return [
        `${event.step}. ${visibleLine(event.tool)} ${visibleLine(JSON.stringify(event.args))}`,
      ];
    case "tool-result":
      return [`   ${resultHead(event)}`, ...indented(event.text)];
    default:
      return assertNever(event);
  }
}

function resultHead({ ok, untrusted }: EventOf<"tool-result">): string {
  if (!ok) return "failed:";
  return untrusted ? "result, words of others:" : "result:";
}

function named(what: string, names: readonly string[], prefix: string): readonly string[] {
  return names.length === 0
    ? []
    : [`${what}: ${names.map((name) => `${prefix}${name}`).join(", ")}`];
}

function indented(text: string): readonly string[] {
  return visibleText(text)
    .split("\n")
    .map((line) => `   ${line}`);
}
