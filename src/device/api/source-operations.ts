/**
 * The operations on sources: notebook, memory log, grants, the file index, and one tool run as the
 * agent would run it. Part of the table in operations.ts.
 *
 * Spec: docs/operating.md "Local API"; docs/sources.md.
 */
import { Type } from "typebox";

import type {
  GrantView,
  IndexView,
  MemoryView,
  NoteView,
  ToolAnswer,
  WatchView,
  WhyFileView,
} from "../sources/port.ts";
import { orNull, type Wire } from "./views.ts";

const text = Type.String();
const count = Type.Integer();
const row = Type.Integer({ minimum: 1 });
const closed = { additionalProperties: false } as const;

const noteView = Type.Object({
  row: count,
  text,
  writer: Type.Union([Type.Literal("owner"), Type.Literal("agent")]),
  writtenMs: Type.Number(),
  changedMs: Type.Number(),
});

const memoryView = Type.Object({
  row: count,
  atMs: Type.Number(),
  source: Type.Union([Type.Literal("message"), Type.Literal("run")]),
  conversation: text,
  author: text,
  foreign: Type.Boolean(),
  text,
  redactedMs: orNull(Type.Number()),
});

const grantKind = Type.Union([
  Type.Literal("notebook"),
  Type.Literal("memory"),
  Type.Literal("files"),
  Type.Literal("calendar"),
]);
const grantParams = Type.Object(
  { kind: grantKind, target: Type.String({ maxLength: 4_096 }) },
  closed,
);
const grantView = Type.Object({ kind: grantKind, target: text, grantedMs: Type.Number() });

const indexView = Type.Object({
  state: Type.Union([Type.Literal("running"), Type.Literal("done")]),
  seen: count,
  expected: count,
  text: count,
  nameOnly: count,
  passedOver: count,
  problems: Type.Array(text),
});

const watchView = Type.Object({
  state: Type.Union([Type.Literal("off"), Type.Literal("watching"), Type.Literal("partly")]),
  folders: count,
  problem: orNull(text),
});

const whyFileView = Type.Object({
  path: text,
  root: orNull(text),
  foundBy: Type.Union([Type.Literal("content"), Type.Literal("name"), Type.Literal("nothing")]),
  reason: text,
});

const toolAnswer = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    text,
    shown: count,
    total: count,
    untrusted: Type.Boolean(),
  }),
  Type.Object({ ok: Type.Literal(false), reason: text }),
]);

/** Operations on sources by name. */
export const sourceOperations = {
  notes: { params: Type.Object({}, closed), result: Type.Array(noteView) },
  "save-note": {
    params: Type.Object(
      { row: Type.Optional(row), text: Type.String({ maxLength: 100_000 }) },
      closed,
    ),
    result: noteView,
  },
  "delete-note": { params: Type.Object({ row }, closed), result: Type.Object({}) },
  memory: {
    params: Type.Object({ last: Type.Integer({ minimum: 1, maximum: 10_000 }) }, closed),
    result: Type.Array(memoryView),
  },
  "redact-memory": { params: Type.Object({ row }, closed), result: Type.Object({}) },
  "context-grants": { params: Type.Object({}, closed), result: Type.Array(grantView) },
  "grant-context": { params: grantParams, result: grantView },
  "revoke-context": { params: grantParams, result: Type.Object({}) },
  "index-files": {
    params: Type.Object({ budgetMs: Type.Integer({ minimum: 1, maximum: 10_000 }) }, closed),
    result: indexView,
  },
  "file-watch": { params: Type.Object({}, closed), result: watchView },
  "why-file": {
    params: Type.Object({ path: Type.String({ maxLength: 4_096 }) }, closed),
    result: whyFileView,
  },
  "run-tool": {
    params: Type.Object(
      {
        toolName: Type.String({ maxLength: 64 }),
        args: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 4_096 })),
        zone: Type.String({ maxLength: 64 }),
      },
      closed,
    ),
    result: toolAnswer,
  },
};

/** Name of an operation on sources. */
export type SourceOperation = keyof typeof sourceOperations;

type ResultOf<Name extends SourceOperation> = Wire<
  Type.Static<(typeof sourceOperations)[Name]["result"]>
>;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Holds exactly as long as the schemas say what the views of sources/port.ts say. */
export const sourceSchemasFit: [
  Same<ResultOf<"save-note">, Wire<NoteView>>,
  Same<ResultOf<"memory">[number], Wire<MemoryView>>,
  Same<ResultOf<"grant-context">, Wire<GrantView>>,
  Same<ResultOf<"index-files">, Wire<IndexView>>,
  Same<ResultOf<"file-watch">, Wire<WatchView>>,
  Same<ResultOf<"why-file">, Wire<WhyFileView>>,
  Same<ResultOf<"run-tool">, Wire<ToolAnswer>>,
] = [true, true, true, true, true, true, true];
