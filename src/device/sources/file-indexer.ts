/**
 * Keeps the index of granted files: walks the roots in small steps, reads what is new or changed, and
 * forgets what is gone. A step ends within its budget and what it did is kept, so that a walk can be
 * shown, stopped and begun again at any time.
 *
 * Spec: docs/sources.md "Files".
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

import { grantedTargets } from "../store/context.ts";
import {
  countFiles,
  deleteUnseen,
  fileRow,
  type FileWords,
  putFile,
  touchFile,
} from "../store/files.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { DeviceStore, WriteTx } from "../store/sqlite.ts";
import { isDiskTrouble, walkRoot, type WalkEntry } from "./file-walk.ts";
import type { IndexView } from "./port.ts";
import { indexedText } from "./search-words.ts";

/** Keeps the index. Steps of several callers run one after the other. */
export interface FileIndexer {
  /** Goes on with the walk, or begins one. */
  readonly step: (budgetMs: number) => Promise<IndexView>;
  /** Walks within a budget, unless a walk ended a moment ago. Returns whether the index is whole. */
  readonly refresh: (budgetMs: number, signal: AbortSignal) => Promise<boolean>;
}

/** A walk that ended this long ago needs no other. Units: ms. */
const freshMs = 30_000;
/** Changes in one transaction. */
const batchChanges = 64;
/** Of a longer file, the beginning is indexed. Units: bytes. */
const maxTextBytes = 262_144;

type Change = (tx: WriteTx) => void;

interface Walk {
  readonly changes: AsyncGenerator<Change>;
  readonly problems: string[];
  seen: number;
}

/** Builds the indexer. */
export function createFileIndexer(store: DeviceStore, nowMs: () => number): FileIndexer {
  let walk: Walk | undefined;
  let endedMs: number | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const goOn = async (budgetMs: number): Promise<IndexView> => {
    const current = (walk ??= beginWalk(store));
    const endMs = nowMs() + budgetMs;
    let done = false;
    while (!done && nowMs() < endMs) {
      const batch: Change[] = [];
      while (batch.length < batchChanges && nowMs() < endMs && !done) {
        const next = await current.changes.next();
        if (next.done === true) done = true;
        else batch.push(next.value);
      }
      store.write((tx) => batch.forEach((change) => change(tx)));
      current.seen += batch.length;
    }
    if (done) {
      walk = undefined;
      endedMs = nowMs();
    }
    return indexView(store, current, done);
  };
  const step = (budgetMs: number): Promise<IndexView> => {
    const mine = last.then(() => goOn(budgetMs));
    last = mine.catch(() => {
      // Whoever asked hears of it; the next step begins a new walk.
      walk = undefined;
    });
    return mine;
  };
  return {
    step,
    refresh: async (budgetMs, signal) => {
      if (walk === undefined && endedMs !== undefined && nowMs() - endedMs < freshMs) return true;
      const endMs = nowMs() + budgetMs;
      while (!signal.aborted && nowMs() < endMs) {
        if ((await step(Math.min(250, budgetMs))).state === "done") return true;
      }
      return false;
    },
  };
}

function beginWalk(store: DeviceStore): Walk {
  const problems: string[] = [];
  const number = store.write((tx) => {
    const next = Number(getSetting(tx, walkKey) ?? "0") + 1;
    putSetting(tx, walkKey, String(next));
    return next;
  });
  return { changes: changesOf(store, number, problems), problems, seen: 0 };
}

const walkKey = "file-walk";

async function* changesOf(
  store: DeviceStore,
  walk: number,
  problems: string[],
): AsyncGenerator<Change> {
  for (const root of store.read((tx) => grantedTargets(tx, "files"))) {
    try {
      for await (const entry of walkRoot(root)) {
        yield await changeFor(store, entry, { root, walk });
      }
    } catch (cause) {
      // A drive that is not there now may be back tomorrow: what is known of it stays.
      problems.push(
        `${root} cannot be read: ${cause instanceof Error ? cause.message : "unknown"}`,
      );
      continue;
    }
    yield (tx) => deleteUnseen(tx, root, walk);
  }
}

async function changeFor(
  store: DeviceStore,
  entry: WalkEntry,
  seen: { readonly root: string; readonly walk: number },
): Promise<Change> {
  if (entry.type === "passed-over") {
    const row = { ...seen, path: entry.path, state: entry.state, bytes: 0, modifiedMs: 0 };
    return whileGranted(seen.root, (tx) => putFile(tx, row, wordsOf(entry.path, "")));
  }
  const { path, target, bytes, modifiedMs } = entry;
  const known = store.read((tx) => fileRow(tx, seen.root, path));
  const isKnown = known?.state === "text" || known?.state === "name-only";
  if (isKnown && known.bytes === bytes && known.modifiedMs === modifiedMs) {
    return (tx) => touchFile(tx, known.row, seen.walk);
  }
  const body = await readText(target);
  const state = body === undefined ? "name-only" : "text";
  const row = { ...seen, path, state, bytes, modifiedMs } as const;
  return whileGranted(seen.root, (tx) => putFile(tx, row, wordsOf(path, body ?? "")));
}

/** A grant that was taken back while its files were read leaves nothing behind. */
function whileGranted(root: string, change: Change): Change {
  return (tx) => {
    if (grantedTargets(tx, "files").includes(root)) change(tx);
  };
}

/** The text of a file, or of its beginning; `undefined` for anything that is not plain text. */
async function readText(target: string): Promise<string | undefined> {
  try {
    // The path was resolved: a link that took its place since is not followed.
    const file = await open(
      target,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const buffer = Buffer.alloc(maxTextBytes);
      const { bytesRead } = await file.read(buffer, 0, maxTextBytes, 0);
      const bytes = buffer.subarray(0, bytesRead);
      return bytes.includes(0) ? undefined : decode(bytes);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (isDiskTrouble(cause)) return undefined;
    throw cause;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    // As a stream, because the beginning of a file may end within a letter.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch (cause) {
    if (cause instanceof TypeError) return undefined;
    throw cause;
  }
}

/** `TaxReport2024.pdf` is found by its parts, too. */
function wordsOf(path: string, body: string): FileWords {
  const parts = path
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{L})(\p{N})|(\p{N})(\p{L})/gu, "$1$3 $2$4");
  return { name: indexedText(parts === path ? path : `${path} ${parts}`), body: indexedText(body) };
}

function indexView(store: DeviceStore, { seen, problems }: Walk, done: boolean): IndexView {
  const counts = store.read(countFiles);
  const of = (...states: readonly Parameters<typeof counts.get>[0][]): number =>
    states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  return {
    state: done ? "done" : "running",
    seen,
    text: of("text"),
    nameOnly: of("name-only"),
    passedOver: of("ignored", "hidden", "outside", "unreadable"),
    problems: [...problems],
  };
}
