/**
 * What the operations on sources do to a device. Part of perform.ts.
 *
 * Spec: docs/operating.md "Local API".
 */
import { ok, type Result } from "../../shared/result.ts";
import type { Device } from "../device.ts";
import type { SourceError } from "../sources/port.ts";
import type { ParamsOf, ResultOf } from "./operations.ts";
import type { SourceOperation } from "./source-operations.ts";
import { toWire, type Wire } from "./views.ts";

export type { SourceOperation } from "./source-operations.ts";

type SourceHandlers = {
  readonly [Name in SourceOperation]: (
    params: ParamsOf<Name>,
  ) => Promise<Result<ResultOf<Name>, SourceError>>;
};

/** The operations on a device's sources. */
export function sourceHandlers({ sources }: Device): SourceHandlers {
  return {
    notes: async () => ok(toWire(sources.notes())),
    "save-note": async (note) => wired(sources.saveNote(note)),
    "delete-note": async ({ row }) => done(sources.deleteNote(row)),
    memory: async ({ last }) => ok(toWire(sources.memory(last))),
    "redact-memory": async ({ row }) => done(sources.redact(row)),
    "context-grants": async () => ok(toWire(sources.grants())),
    "grant-context": async ({ kind, target }) => wired(sources.grant(kind, target)),
    "revoke-context": async ({ kind, target }) => done(sources.revoke(kind, target)),
    "index-files": async ({ budgetMs }) => ok(toWire(await sources.indexFiles(budgetMs))),
    "file-watch": async () => ok(toWire(sources.fileWatch())),
    "why-file": async ({ path }) => ok(toWire(sources.whyFile(path))),
    "run-tool": async ({ toolName, args, zone }) =>
      wired(await sources.runTool(toolName, args, zone)),
  };
}

function wired<T>(result: Result<T, SourceError>): Result<Wire<T>, SourceError> {
  return result.ok ? ok(toWire(result.value)) : result;
}

function done(result: Result<undefined, SourceError>): Result<object, SourceError> {
  return result.ok ? ok({}) : result;
}
