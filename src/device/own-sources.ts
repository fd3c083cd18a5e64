/**
 * Joins notebook, memory log, calendar and files over one device: what its owner does with them, and
 * the tools that its agent may call. Every act of the owner is one transaction.
 *
 * Spec: docs/sources.md.
 */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";

import { parseUtf8 } from "../shared/bytes.ts";
import type { Clock } from "../shared/clock.ts";
import { err, ok, type Result } from "../shared/result.ts";
import { type AgentEvent, answerOf } from "./agent/events.ts";
import { isTainted } from "./agent/history.ts";
import type { Background } from "./background.ts";
import type { Embedder } from "./model/embedder.ts";
import { createMeaning } from "./sources/meaning.ts";
import { deviceViews } from "./identity/devices.ts";
import { payloadTag } from "./messaging/payload.ts";
import { sentinelKind } from "./sentinel.ts";
import { skillCard } from "./skill-card.ts";
import { createDocumentReader } from "./sources/document-reader.ts";
import type { FileIndexer } from "./sources/file-indexer.ts";
import type { FileWatcher } from "./sources/file-watcher.ts";
import { isDiskTrouble } from "./sources/file-walk.ts";
import { whyFile } from "./sources/file-why.ts";
import {
  type AgentRun,
  catchUpMemory,
  catchUpWithin,
  recentMemory,
  redactLine,
  rememberRun,
} from "./sources/memory-log.ts";
import { removeNote, saveNote } from "./sources/notebook.ts";
import { createWatchedIndex } from "./sources/watched-index.ts";
import type { DeviceSources, GrantKind, GrantView, SourceError } from "./sources/port.ts";
import {
  addContextGrant,
  contextGrants,
  deleteContextGrant,
  grantedTargets,
} from "./store/context.ts";
import { deleteRoot } from "./store/files.ts";
import type { MessageRow } from "./store/messages.ts";
import { notebookRows } from "./store/notebook.ts";
import type { DeviceStore, ReadTx, WriteTx } from "./store/sqlite.ts";
import type { AskSibling } from "./tools/find-file.ts";
import type { OwnedDevice } from "./tools/list-devices.ts";
import type { ToolBox } from "./tools/tool.ts";
import { createToolBox } from "./tools/tool-set.ts";

/** Sources for the owner, tools for the agent, and where the agent's turns are remembered. */
export interface OwnSources extends Disposable {
  readonly sources: DeviceSources;
  readonly tools: ToolBox;
  /** Logs a turn, within the transaction that keeps it. */
  readonly remember: (tx: WriteTx, events: readonly AgentEvent[]) => void;
}

/** Joins them. */
export function createOwnSources({
  store,
  clock,
  askSibling,
  background,
  embedder = () => Promise.resolve(undefined),
}: {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly background: Pick<Background, "run">;
  readonly embedder?: () => Promise<Embedder | undefined>;
  readonly askSibling: AskSibling;
}): OwnSources {
  const reader = createDocumentReader(clock);
  const ownedDevices = (): readonly OwnedDevice[] => store.read(devicesOf);
  const ending = new AbortController();
  const { signal } = ending;
  const runAside = background.run;
  const { indexer, watcher } = createWatchedIndex({ store, clock, reader, runAside, signal });
  let reading = false;
  const readMeaning = (): void => {
    if (reading || ending.signal.aborted) return;
    reading = true;
    background.run(async () => {
      await meaning.readAll(ending.signal);
      reading = false;
    });
  };
  const meaning = createMeaning({
    store,
    embedder,
    nowMs: clock.nowMs,
    onUnread: readMeaning,
  });
  const tools = createToolBox({
    store,
    meaning,
    textOf: messageText,
    indexer,
    ownedDevices,
    askSibling,
  });
  const sources = ownersSources({ store, clock, tools, indexer, watcher });
  const remember: OwnSources["remember"] = (tx, events) => {
    const run = runOf(events);
    if (run === undefined) return;
    // What was said before the run comes before it in the log.
    catchUpWithin(tx, messageText);
    rememberRun(tx, run);
  };
  return {
    sources,
    tools,
    remember,
    [Symbol.dispose]: () => {
      ending.abort();
      watcher[Symbol.dispose]();
      reader[Symbol.dispose]();
    },
  };
}

/** What the owner does with the sources. */
function ownersSources({
  store,
  clock,
  tools,
  indexer,
  watcher,
}: {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly tools: ToolBox;
  readonly indexer: FileIndexer;
  readonly watcher: FileWatcher;
}): DeviceSources {
  return {
    notes: () => store.read(notebookRows),
    saveNote: (note) =>
      store.write((tx) => saveNote(tx, { ...note, writer: "owner" }, clock.nowMs())),
    deleteNote: (row) => store.write((tx) => removeNote(tx, row)),
    memory: (last) => {
      catchUpMemory(store, messageText);
      return store
        .read((tx) => recentMemory(tx, last))
        .map(({ sourceId: _sourceId, redactedMs, ...line }) => ({
          ...line,
          redactedMs: redactedMs ?? undefined,
        }));
    },
    redact: (row) => store.write((tx) => redactLine(tx, row, clock.nowMs())),
    grants: () => store.read(contextGrants),
    grant: (kind, target) => {
      const granted = grant(store, { kind, target, grantedMs: clock.nowMs() });
      watcher.grantsChanged();
      return granted;
    },
    revoke: (kind, target) => {
      const revoked = revoke(store, kind, target);
      watcher.grantsChanged();
      return revoked;
    },
    indexFiles: indexer.step,
    watchFiles: watcher.start,
    fileWatch: watcher.view,
    whyFile: (file) => store.read((tx) => whyFile(tx, file)),
    runTool: async (toolName, args, zone) => {
      const tool = tools.get(toolName);
      if (tool === undefined) {
        return err({ type: "no-such-tool", message: `there is no tool ${toolName}` });
      }
      const { signal } = new AbortController();
      return ok(await tool.run(args, { nowMs: clock.nowMs(), zone, signal }));
    },
  };
}

function runOf(events: readonly AgentEvent[]): AgentRun | undefined {
  const started = events.find((event) => event.type === "turn-started");
  if (started === undefined) return undefined;
  const { runId, question, atMs } = started;
  const answer = answerOf(events) ?? "";
  return { runId, question, atMs, answer, untrusted: isTainted(events) };
}

function devicesOf(tx: ReadTx): readonly OwnedDevice[] {
  return deviceViews(tx)
    .filter(({ state }) => state !== "revoked")
    .map(({ deviceId, thisDevice, name }) => ({ deviceId, thisDevice, name }));
}

/** What a message says for the log: its text, or what was shared. */
function messageText(row: MessageRow): string | undefined {
  if (row.typeTag !== payloadTag.message) return undefined;
  const text = parseUtf8(row.content);
  if (!text.ok) return undefined;
  const card = skillCard(text.value, false);
  if (card !== undefined) return `shared the skill “${card.name}”: ${card.shortDescription}`;
  return sentinelKind(text.value) === undefined ? text.value : undefined;
}

function grant(store: DeviceStore, wanted: GrantView): Result<GrantView, SourceError> {
  const target = targetOf(wanted);
  if (!target.ok) return target;
  const row = { ...wanted, target: target.value };
  const added = store.write((tx) => addContextGrant(tx, row));
  return added
    ? ok(row)
    : err({ type: "already-granted", message: `granted already: ${grantText(row)}` });
}

function targetOf({ kind, target }: GrantView): Result<string, SourceError> {
  const refuse = (message: string): Result<string, SourceError> =>
    err({ type: "grant-target", message: `${kind}: ${message}` });
  if (kind === "notebook" || kind === "memory") {
    return target === "" ? ok("") : refuse(`expected no path, got ${target}`);
  }
  if (!path.isAbsolute(target)) return refuse(`expected an absolute path, got ${target}`);
  try {
    // Links are resolved once, here: a link that is bent later grants nothing else.
    const real = realpathSync(target);
    if (kind === "files" && !statSync(real).isDirectory()) {
      return refuse(`expected a folder, got the file ${target}`);
    }
    return ok(real);
  } catch (cause) {
    if (isDiskTrouble(cause)) return refuse(`expected a path that exists, got ${target}`);
    throw cause;
  }
}

function revoke(
  store: DeviceStore,
  kind: GrantKind,
  target: string,
): Result<undefined, SourceError> {
  return store.write((tx) => {
    const granted = grantedTargets(tx, kind);
    const known = [target, realPathOf(target)].find((each) => granted.includes(each));
    if (known === undefined) {
      return err({
        type: "no-such-grant",
        message: `not granted: ${grantText({ kind, target })}; see pixie context list`,
      });
    }
    deleteContextGrant(tx, kind, known);
    if (kind === "files") deleteRoot(tx, known);
    return ok(undefined);
  });
}

/** Where a path leads now, or the path itself: what is granted may be gone. */
function realPathOf(target: string): string {
  try {
    return target === "" ? target : realpathSync(target);
  } catch (cause) {
    if (isDiskTrouble(cause)) return target;
    throw cause;
  }
}

function grantText({ kind, target }: Pick<GrantView, "kind" | "target">): string {
  return target === "" ? kind : `${kind} ${target}`;
}
