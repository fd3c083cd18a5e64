/**
 * The events of a turn as JSON: what a trace is in the local API, and what its stream tells.
 *
 * Spec: docs/agent.md "Events"; docs/operating.md "Local API".
 */
import { type TObject, type TProperties, Type } from "typebox";

import type { AgentEvent } from "../agent/events.ts";
import type { Wire } from "./views.ts";

const text = Type.String();
const texts = Type.Array(text);
const count = Type.Integer();
const callArguments = Type.Record(text, text);

/** Modes of a turn. */
export const modeName = Type.Union([
  Type.Literal("agent"),
  Type.Literal("plan"),
  Type.Literal("goal"),
]);

/** Harnesses. */
export const harnessName = Type.Union([Type.Literal("planned"), Type.Literal("resident")]);

function event<Name extends AgentEvent["type"], Properties extends TProperties>(
  name: Name,
  properties: Properties,
): ReturnType<typeof tagged<Name, Properties>> {
  return tagged(name, properties);
}

function tagged<Name extends string, Properties extends TProperties>(
  name: Name,
  properties: Properties,
): TObject<{ type: ReturnType<typeof Type.Literal<Name>> } & Properties> {
  return Type.Object({ type: Type.Literal(name), ...properties });
}

const stopReason = Type.Union([
  Type.Literal("answered"),
  Type.Literal("unsure"),
  Type.Literal("rehearsed"),
  Type.Literal("proposed"),
  Type.Literal("steps"),
  Type.Literal("tokens"),
  Type.Literal("repeated-call"),
  Type.Literal("wall-clock"),
  Type.Literal("aborted"),
  Type.Literal("menu-too-large"),
  Type.Literal("model-failed"),
]);

/** One event of a turn. */
export const agentEventView = Type.Union([
  event("turn-started", {
    runId: text,
    question: text,
    brain: text,
    mode: modeName,
    harness: harnessName,
    earlier: count,
    tainted: Type.Boolean(),
    atMs: Type.Number(),
  }),
  event("path-chosen", {
    path: Type.Union([Type.Literal("direct"), Type.Literal("planned"), Type.Literal("resident")]),
    reason: text,
  }),
  event("notice", { text }),
  event("plan", { sentence: text, handles: texts, dropped: texts }),
  event("bound", { core: texts, tools: texts, skills: texts, unavailable: texts }),
  event("tool-call", { step: count, tool: text, args: callArguments }),
  event("approval", {
    step: count,
    state: Type.Union([Type.Literal("asked"), Type.Literal("allowed"), Type.Literal("denied")]),
    reason: text,
  }),
  event("activated", { tools: texts }),
  event("tool-result", {
    step: count,
    tool: text,
    ok: Type.Boolean(),
    text,
    untrusted: Type.Boolean(),
  }),
  event("token", { text }),
  event("answer", { text }),
  event("stopped", { reason: stopReason, detail: text }),
]);

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schema says what the events say. */
export const agentEventSchemaFits: Same<
  Wire<Type.Static<typeof agentEventView>>,
  Wire<AgentEvent>
> = true;
