/**
 * Operations of the agent, and the events of a turn as JSON: part of the table in operations.ts.
 *
 * Spec: docs/operating.md "Local API"; docs/agent.md "Events".
 */
import { type TObject, type TProperties, Type } from "typebox";

import type { AgentEvent } from "../agent/events.ts";
import type { AlignmentView, RunView } from "../device.ts";
import type { Wire } from "./views.ts";

const text = Type.String();
const texts = Type.Array(text);
const count = Type.Integer();
const callArguments = Type.Record(text, text);

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
  Type.Literal("steps"),
  Type.Literal("repeated-call"),
  Type.Literal("wall-clock"),
  Type.Literal("aborted"),
  Type.Literal("model-failed"),
]);

/** One event of a turn. */
const agentEventView = Type.Union([
  event("turn-started", { runId: text, question: text, brain: text, atMs: Type.Number() }),
  event("path-chosen", {
    path: Type.Union([Type.Literal("direct"), Type.Literal("planned")]),
    reason: text,
  }),
  event("plan", { sentence: text, handles: texts, dropped: texts }),
  event("bound", { tools: texts, skills: texts, unavailable: texts }),
  event("tool-call", { step: count, tool: text, args: callArguments }),
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

/** What is told while an operation runs. */
export const progressView = Type.Union([
  agentEventView,
  Type.Object({ type: Type.Literal("queued"), ahead: count }),
]);

/** One step of an operation: an event of the turn, or how many questions are ahead of it. */
export type Progress = AgentEvent | { readonly type: "queued"; readonly ahead: number };

const trace = Type.Array(agentEventView);
const runView = Type.Object({
  runId: text,
  startedMs: Type.Number(),
  question: text,
  stopReason: text,
});
const blurbName = Type.Union([
  Type.Literal("notebook"),
  Type.Literal("files"),
  Type.Literal("calendar"),
  Type.Literal("date"),
]);
const alignmentView = Type.Object({
  document: text,
  tokens: count,
  tokensAreExact: Type.Boolean(),
  instructions: text,
  instructionsAreDefault: Type.Boolean(),
  blurbs: Type.Array(Type.Object({ id: blurbName, on: Type.Boolean(), text })),
  selected: texts,
});

// The rules about lengths are the agent's own, in words; these only bound what is parsed.
const question = Type.String({ maxLength: 100_000 });
const names = Type.Array(Type.String({ maxLength: 128 }), { maxItems: 10_000 });

/** The agent's part of the table. */
export const agentOperations = {
  ask: { params: closed({ question }), result: trace },
  rehearse: { params: closed({ question }), result: trace },
  runs: { params: closed({}), result: Type.Array(runView) },
  run: { params: closed({ runId: Type.String({ maxLength: 64 }) }), result: trace },
  alignment: { params: closed({}), result: alignmentView },
  "align-select": { params: closed({ ids: names }), result: Type.Object({}) },
  "align-instructions": {
    params: closed({ text: Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]) }),
    result: Type.Object({}),
  },
  "align-blurbs": { params: closed({ ids: names }), result: Type.Object({}) },
};

function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schemas say what the views say. */
export const agentSchemasFit: [
  Same<Wire<Type.Static<typeof progressView>>, Wire<Progress>>,
  Same<Wire<Type.Static<typeof runView>>, Wire<RunView>>,
  Same<Wire<Type.Static<typeof alignmentView>>, Wire<AlignmentView>>,
] = [true, true, true];
