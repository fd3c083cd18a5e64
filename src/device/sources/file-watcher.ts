/**
 * Watches the folders that a walk of granted files enters, and says when another walk is due: soon after
 * something changed, once for however many changes, and never so often that walking is all it does.
 *
 * It reads no names and trusts no event: what changed is found by the walk. A folder that cannot be
 * watched, or is one too many, is said, and an hourly walk finds what it missed.
 * Spec: docs/sources.md "Files".
 */
import { watch as watchFolder } from "node:fs";

import type { Clock } from "../../shared/clock.ts";
import { isDiskTrouble } from "./file-walk.ts";
import type { WatchView } from "./port.ts";

/** What a walk tells while it goes. */
export interface WalkHooks {
  readonly begun: () => void;
  /** A folder is about to be read. */
  readonly entering: (folder: string) => void;
  readonly ended: () => void;
}

/** The watches of one device. */
export interface FileWatcher extends WalkHooks, Disposable {
  /** From now on folders are watched; the first walk is due at once. For a process that stays. */
  readonly start: () => void;
  /** Something else than a file changed, e.g. a grant. */
  readonly grantsChanged: () => void;
  readonly view: () => WatchView;
}

/** What it is made of. */
export interface WatcherParts {
  readonly clock: Clock;
  /** A walk is due. */
  readonly onDue: () => void;
  /** Watches one folder; returns what ends that. Throws where the system refuses. */
  readonly watch?: (folder: string, onChange: () => void, onLost: () => void) => () => void;
}

/** Folders that are watched; a system gives some 8,000 to 500,000 to all programs of a user. */
export const maxWatched = 8_192;
/** Changes that come together are one. Units: ms. */
export const quietMs = 1_000;
/** A walk is followed by this many times its own length without one. */
const restFactor = 10;
/** Finds what no watch told: full watches, network drives, a root that is back. Units: ms. */
const sweepMs = 3_600_000;

/** Builds one that watches nothing yet. */
export function createFileWatcher(parts: WatcherParts): FileWatcher {
  return new FolderWatches(parts);
}

class FolderWatches implements FileWatcher {
  readonly #parts: WatcherParts;
  /** What ends each watch. */
  readonly #watched = new Map<string, () => void>();
  #entered = new Set<string>();
  #isStarted = false;
  /** Since the walk began: it may have passed that folder already. */
  #hasChanged = false;
  #problem: string | undefined;
  #begunMs = 0;
  #restUntilMs = 0;
  #cancel: (() => void) | undefined;
  #dueMs = Infinity;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
  }

  readonly start = (): void => {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#walkIn(0);
  };

  readonly grantsChanged = (): void => {
    this.#hasChanged = true;
    this.#walkIn(0);
  };

  readonly begun = (): void => {
    this.#entered = new Set();
    this.#problem = undefined;
    this.#hasChanged = false;
    this.#begunMs = this.#parts.clock.nowMs();
  };

  readonly entering = (folder: string): void => {
    if (!this.#isStarted) return;
    this.#entered.add(folder);
    if (this.#watched.has(folder)) return;
    if (this.#watched.size >= maxWatched) {
      this.#problem = `${maxWatched} folders are the most that are watched`;
      return;
    }
    const { watch = watchReal } = this.#parts;
    try {
      // A folder that goes away takes its watch along; its parent tells, or the next walk does.
      const end = watch(folder, this.#changed, () => this.#drop(folder));
      this.#watched.set(folder, end);
    } catch (cause) {
      if (!isDiskTrouble(cause)) throw cause;
      this.#problem = `not all folders can be watched (${cause instanceof Error ? cause.message : "unknown"})`;
    }
  };

  readonly ended = (): void => {
    if (!this.#isStarted) return;
    for (const folder of this.#watched.keys()) if (!this.#entered.has(folder)) this.#drop(folder);
    const nowMs = this.#parts.clock.nowMs();
    this.#restUntilMs = nowMs + restFactor * (nowMs - this.#begunMs);
    this.#walkIn(this.#hasChanged ? quietMs : sweepMs);
  };

  readonly #changed = (): void => {
    this.#hasChanged = true;
    this.#walkIn(quietMs);
  };

  readonly view = (): WatchView => {
    if (!this.#isStarted) return { state: "off", folders: 0, problem: undefined };
    const state = this.#problem === undefined ? "watching" : "partly";
    return { state, folders: this.#watched.size, problem: this.#problem };
  };

  [Symbol.dispose](): void {
    this.#isStarted = false;
    this.#cancel?.();
    for (const folder of this.#watched.keys()) this.#drop(folder);
  }

  #drop(folder: string): void {
    this.#watched.get(folder)?.();
    this.#watched.delete(folder);
  }

  /** The earliest wish counts; the rest after a long walk counts more. */
  #walkIn(delayMs: number): void {
    if (!this.#isStarted) return;
    const { clock, onDue } = this.#parts;
    const nowMs = clock.nowMs();
    const dueMs = Math.max(nowMs + delayMs, Math.min(this.#restUntilMs, nowMs + sweepMs));
    if (dueMs >= this.#dueMs) return;
    this.#cancel?.();
    this.#dueMs = dueMs;
    this.#cancel = clock.schedule(dueMs - nowMs, () => {
      this.#dueMs = Infinity;
      onDue();
    });
  }
}

function watchReal(folder: string, onChange: () => void, onLost: () => void): () => void {
  // Not kept alive by its watches: a process ends when its work does.
  const watcher = watchFolder(folder, { persistent: false }, onChange);
  watcher.on("error", onLost);
  return () => watcher.close();
}
