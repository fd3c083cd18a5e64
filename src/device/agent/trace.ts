/**
 * Stored traces: reading one back from the JSON that was written of it.
 *
 * A trace was made by this device, so one that does not parse is a damaged store, which is a bug to
 * hear of and not something to repair. Spec: docs/agent.md "Events".
 */
import type { AgentEvent } from "./events.ts";

const eventTypes: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "turn-started",
  "path-chosen",
  "plan",
  "bound",
  "notice",
  "tool-call",
  "approval",
  "activated",
  "tool-result",
  "token",
  "answer",
  "stopped",
]);

/** The events of a stored trace. Throws on anything else than what was stored. */
export function parseTrace(json: string): readonly AgentEvent[] {
  const value: unknown = JSON.parse(json);
  if (!isTrace(value)) throw new Error("a stored trace is damaged: expected events of a turn");
  return value;
}

function isTrace(value: unknown): value is readonly AgentEvent[] {
  return (
    Array.isArray(value) &&
    value.every(
      (event: unknown) =>
        typeof event === "object" &&
        event !== null &&
        "type" in event &&
        typeof event.type === "string" &&
        eventTypes.has(event.type),
    )
  );
}
