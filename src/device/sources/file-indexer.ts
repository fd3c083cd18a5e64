/**
 * Keeps the index of granted files: walks the roots in small steps, reads what is new or changed, and
 * forgets what is gone. A step ends within its budget and what it did is kept, so that a walk can be
 * shown, stopped and begun again at any time.
 *
 * Spec: docs/sources.md "Files".
 */
import { grantedTargets } from "../store/context.ts";
import {
  countFiles,
  deleteUnseen,
  fileRow,
  type FileWords,
  namedStates,
  putFile,
  touchFile,
} from "../store/files.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { DeviceStore, WriteTx } from "../store/sqlite.ts";
import type { DocumentReader } from "./document-reader.ts";
import { readContent } from "./file-content.ts";
import { walkRoot, type WalkEntry } from "./file-walk.ts";
import type { WalkHooks } from "./file-watcher.ts";
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

type Change = (tx: WriteTx) => void;
type Reader = Pick<DocumentReader, "read">;

interface Walk {
  readonly changes: AsyncGenerator<Change>;
  readonly problems: string[];
  /** Entries of the last whole walk. */
  readonly expected: number;
  seen: number;
}

/** Builds the indexer. */
export function createFileIndexer(
  store: DeviceStore,
  nowMs: () => number,
  reader: Reader,
  hooks: WalkHooks = unheard,
): FileIndexer {
  let walk: Walk | undefined;
  let endedMs: number | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const goOn = async (budgetMs: number): Promise<IndexView> => {
    const current = (walk ??= beginWalk(store, reader, hooks));
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
      hooks.ended();
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

const unheard: WalkHooks = {
  begun: () => undefined,
  entering: () => undefined,
  ended: () => undefined,
};

function beginWalk(store: DeviceStore, reader: Reader, hooks: WalkHooks): Walk {
  hooks.begun();
  const problems: string[] = [];
  const number = store.write((tx) => {
    const next = Number(getSetting(tx, walkKey) ?? "0") + 1;
    putSetting(tx, walkKey, String(next));
    return next;
  });
  const expected = [...store.read(countFiles).values()].reduce((sum, count) => sum + count, 0);
  return {
    changes: changesOf({ store, reader, hooks }, number, problems),
    problems,
    expected,
    seen: 0,
  };
}

const walkKey = "file-walk";

interface WalkParts {
  readonly store: DeviceStore;
  readonly reader: Reader;
  readonly hooks: WalkHooks;
}

async function* changesOf(
  { store, reader, hooks }: WalkParts,
  walk: number,
  problems: string[],
): AsyncGenerator<Change> {
  for (const root of store.read((tx) => grantedTargets(tx, "files"))) {
    try {
      for await (const entry of walkRoot(root, hooks.entering)) {
        yield await changeFor({ store, reader }, entry, { root, walk });
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
  { store, reader }: { readonly store: DeviceStore; readonly reader: Reader },
  entry: WalkEntry,
  seen: { readonly root: string; readonly walk: number },
): Promise<Change> {
  if (entry.type === "passed-over") {
    const row = { ...seen, path: entry.path, state: entry.state, bytes: 0, modifiedMs: 0 };
    return whileGranted(seen.root, (tx) => putFile(tx, row, wordsOf(entry.path, "")));
  }
  const { path, target, bytes, modifiedMs } = entry;
  const known = store.read((tx) => fileRow(tx, seen.root, path));
  const isKnown = known !== undefined && namedStates.includes(known.state);
  if (isKnown && known.bytes === bytes && known.modifiedMs === modifiedMs) {
    return (tx) => touchFile(tx, known.row, seen.walk);
  }
  const { state, text } = await readContent(target, reader);
  const row = { ...seen, path, state, bytes, modifiedMs };
  return whileGranted(seen.root, (tx) => putFile(tx, row, wordsOf(path, text)));
}

/** A grant that was taken back while its files were read leaves nothing behind. */
function whileGranted(root: string, change: Change): Change {
  return (tx) => {
    if (grantedTargets(tx, "files").includes(root)) change(tx);
  };
}

/** `TaxReport2024.pdf` is found by its parts, too. */
function wordsOf(path: string, body: string): FileWords {
  const parts = path
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{L})(\p{N})|(\p{N})(\p{L})/gu, "$1$3 $2$4");
  return { name: indexedText(parts === path ? path : `${path} ${parts}`), body: indexedText(body) };
}

function indexView(
  store: DeviceStore,
  { seen, expected, problems }: Walk,
  done: boolean,
): IndexView {
  const counts = store.read(countFiles);
  const of = (...states: readonly Parameters<typeof counts.get>[0][]): number =>
    states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  return {
    state: done ? "done" : "running",
    seen,
    expected,
    text: of("text"),
    nameOnly: of("name-only", "too-large", "encrypted", "broken", "too-heavy"),
    passedOver: of("ignored", "hidden", "outside", "unreadable"),
    problems: [...problems],
  };
}
