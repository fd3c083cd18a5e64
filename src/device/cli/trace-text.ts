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
  switch (event.type) {
    case "turn-started":
      return [`question: ${visibleLine(event.question)}`, `brain: ${event.brain}`];
    case "path-chosen":
      return [`path: ${event.path}. ${visibleLine(event.reason)}`];
    case "plan":
      return [
        `plan: ${visibleLine(event.sentence)}`,
        ...named("not on the menu", event.dropped, "@"),
      ];
    case "bound":
      return boundLines(event);
    case "tool-call":
      return [
        `${event.step}. ${visibleLine(event.tool)} ${visibleLine(JSON.stringify(event.args))}`,
      ];
    case "tool-result":
      return [`   ${resultHead(event)}`, ...indented(event.text)];
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

function boundLines({ skills, tools, unavailable }: EventOf<"bound">): readonly string[] {
  return [
    ...named("follows", skills, "@"),
    `may call: ${tools.length === 0 ? "nothing" : tools.join(", ")}`,
    ...named("not available here", unavailable, "@"),
  ];
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
