/**
 * Operations of the agent: part of the table in operations.ts.
 *
 * Spec: docs/operating.md "Local API".
 */
import { type TObject, type TProperties, Type } from "typebox";

import type { AgentEvent } from "../agent/events.ts";
import type { AlignmentView, ApprovalView, ChatView, PriceView, RunView } from "../agent/port.ts";
import type { AskedApproval } from "../homebase/op.ts";
import type { ModelProgress } from "../weights/port.ts";
import { agentEventView, harnessName, modeName } from "./agent-events.ts";
import { modelProgressView } from "./model-operations.ts";
import { orNull, type Wire } from "./views.ts";

const text = Type.String();
const texts = Type.Array(text);
const count = Type.Integer();

/** A call that another device asks about. */
export const askedApprovalView = Type.Object({
  approvalId: text,
  tool: text,
  args: text,
  hash: text,
  why: text,
  expiresMs: Type.Number(),
});

/** What is told while an operation runs. */
export const progressView = Type.Union([
  agentEventView,
  modelProgressView,
  Type.Object({ type: Type.Literal("queued"), ahead: count }),
  Type.Object({
    type: Type.Literal("device-state"),
    state: text,
    ahead: count,
    approvals: Type.Array(askedApprovalView),
    untoldApprovals: count,
  }),
]);

/** One step of an operation. */
export type Progress =
  | AgentEvent
  /** So many bytes of a model came. */
  | ModelProgress
  /** So many questions are ahead of this one. */
  | { readonly type: "queued"; readonly ahead: number }
  /** How far another device is with it, and what it asks the owner meanwhile. */
  | {
      readonly type: "device-state";
      readonly state: string;
      readonly ahead: number;
      readonly approvals: readonly AskedApproval[];
      readonly untoldApprovals: number;
    };

/** How the caller of an operation follows it. */
export interface Following {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

const trace = Type.Array(agentEventView);
const runView = Type.Object({
  runId: text,
  startedMs: Type.Number(),
  question: text,
  stopReason: text,
  chatId: orNull(text),
});
const chatView = Type.Object({ chatId: text, question: text, turns: count, lastMs: Type.Number() });
const approvalView = Type.Object({
  approvalId: text,
  runId: text,
  tool: text,
  args: text,
  hash: text,
  why: text,
  askedMs: Type.Number(),
  expiresMs: Type.Number(),
  state: Type.Union([
    Type.Literal("asked"),
    Type.Literal("allowed"),
    Type.Literal("denied"),
    Type.Literal("expired"),
    Type.Literal("withdrawn"),
  ]),
  answeredMs: orNull(Type.Number()),
  answeredBy: orNull(text),
});
const blurbName = Type.Union([
  Type.Literal("notebook"),
  Type.Literal("files"),
  Type.Literal("calendar"),
  Type.Literal("date"),
]);
const alignmentView = Type.Object({
  harness: harnessName,
  document: text,
  tokens: count,
  tokensAreExact: Type.Boolean(),
  instructions: text,
  instructionsAreDefault: Type.Boolean(),
  blurbs: Type.Array(Type.Object({ id: blurbName, on: Type.Boolean(), text })),
  selected: texts,
});

const priceView = Type.Object({
  brain: text,
  exact: Type.Boolean(),
  tokens: count,
  contextTokens: orNull(count),
  parts: Type.Array(Type.Object({ part: text, tokens: count })),
});

// The rules about lengths are the agent's own, in words; these only bound what is parsed.
const question = Type.String({ maxLength: 100_000 });
const names = Type.Array(Type.String({ maxLength: 128 }), { maxItems: 10_000 });

const runId = Type.String({ maxLength: 64 });
/** What answers an approval, here or on another device. */
export const approvalAnswer = {
  approvalId: Type.String({ maxLength: 64 }),
  verdict: Type.Union([Type.Literal("allow"), Type.Literal("deny")]),
  hash: Type.String({ maxLength: 64 }),
};
const approvals = Type.Optional(Type.Union([Type.Literal("wait"), Type.Literal("deny")]));
const askOptions = {
  mode: Type.Optional(modeName),
  chatId: Type.Optional(Type.String({ maxLength: 64 })),
  approvals,
};

/** The agent's part of the table. */
export const agentOperations = {
  ask: { params: closed({ question, ...askOptions }), result: trace },
  approve: { params: closed({ runId, approvals }), result: trace },
  "start-chat": { params: closed({}), result: Type.Object({ chatId: text }) },
  chats: { params: closed({}), result: Type.Array(chatView) },
  approvals: { params: closed({}), result: Type.Array(approvalView) },
  "answer-approval": { params: closed(approvalAnswer), result: approvalView },
  rehearse: { params: closed({ question }), result: trace },
  runs: { params: closed({}), result: Type.Array(runView) },
  run: { params: closed({ runId }), result: trace },
  alignment: { params: closed({}), result: alignmentView },
  "align-price": { params: closed({}), result: priceView },
  "align-select": { params: closed({ ids: names }), result: Type.Object({}) },
  "align-instructions": {
    params: closed({ text: Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]) }),
    result: Type.Object({}),
  },
  "align-harness": { params: closed({ harness: harnessName }), result: Type.Object({}) },
  "align-blurbs": { params: closed({ ids: names }), result: Type.Object({}) },
};

function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schemas say what the views say. */
export const agentSchemasFit: [
  Same<Wire<Type.Static<typeof progressView>>, Wire<Progress>>,
  Same<Wire<Type.Static<typeof approvalView>>, Wire<ApprovalView>>,
  Same<Wire<Type.Static<typeof chatView>>, Wire<ChatView>>,
  Same<Wire<Type.Static<typeof runView>>, Wire<RunView>>,
  Same<Wire<Type.Static<typeof alignmentView>>, Wire<AlignmentView>>,
  Same<Wire<Type.Static<typeof priceView>>, Wire<PriceView>>,
] = [true, true, true, true, true, true];
