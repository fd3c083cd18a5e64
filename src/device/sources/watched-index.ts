/**
 * The index of granted files and the watcher that keeps it current: a walk tells the watcher which
 * folders it enters, and what the watcher notices makes the next walk due.
 *
 * Spec: docs/sources.md "Files".
 */
import type { Clock } from "../../shared/clock.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { storeErrorOf } from "../store/store-error.ts";
import type { DocumentReader } from "./document-reader.ts";
import { createFileIndexer, type FileIndexer } from "./file-indexer.ts";
import { createFileWatcher, type FileWatcher } from "./file-watcher.ts";

/** What they are made of. */
export interface WatchedIndexParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly reader: Pick<DocumentReader, "read">;
  /** Runs a walk while nobody waits for it. */
  readonly runAside: (work: () => Promise<void>) => void;
  /** Aborts when no walk may begin or go on any more. */
  readonly signal: AbortSignal;
}

/** A step of a walk that nobody waits for. Units: ms. */
const stepMs = 100;

/** Builds both. Nothing is watched before `watcher.start`. */
export function createWatchedIndex({ store, clock, reader, runAside, signal }: WatchedIndexParts): {
  readonly indexer: FileIndexer;
  readonly watcher: FileWatcher;
} {
  let walking = false;
  const walk = async (): Promise<void> => {
    await walkWhole(indexer, signal);
    walking = false;
  };
  const watcher = createFileWatcher({
    clock,
    onDue: () => {
      if (walking || signal.aborted) return;
      walking = true;
      runAside(walk);
    },
  });
  const indexer = createFileIndexer(store, clock.nowMs, reader, watcher);
  return { indexer, watcher };
}

/** Walks until the index is whole, in steps that others can come between. */
async function walkWhole({ step }: FileIndexer, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) if ((await step(stepMs)).state === "done") return;
  } catch (thrown) {
    // A full disk passes: the next change, search or hour walks again.
    if (storeErrorOf(thrown) === undefined) throw thrown;
  }
}
