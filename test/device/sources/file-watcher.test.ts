/** Watching granted folders: real changes of a real file system are found; bounds and trouble are said. */
import { EventEmitter, once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createOwnSources, type OwnSources } from "../../../src/device/own-sources.ts";
import {
  createFileWatcher,
  type FileWatcher,
  maxWatched,
  quietMs,
} from "../../../src/device/sources/file-watcher.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { librarian, type Librarian } from "../../support/library.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

let folder: string;
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), "pixie-watch-")))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a device that stays", () => {
  let ada: Librarian;
  let own: OwnSources;
  const walks = new EventEmitter();

  beforeEach(() => {
    ada = librarian("ada");
    own = createOwnSources({
      store: ada.store,
      clock: systemClock,
      background: { run: (work) => void work().then(() => walks.emit("walked")) },
      askSibling: () => Promise.resolve({ ok: false, reason: "there is one device" }),
    });
  });
  afterEach(() => {
    own[Symbol.dispose]();
    ada[Symbol.dispose]();
  });

  /** Does something, and waits for the walk that finds it. */
  async function afterWalk(act: () => void, isFound: () => boolean): Promise<void> {
    const walked = once(walks, "walked");
    act();
    for (let next: Promise<unknown> = walked; ; next = once(walks, "walked")) {
      await next;
      if (isFound()) return;
    }
  }
  const found = (file: string): boolean =>
    own.sources.whyFile(path.join(folder, file)).foundBy === "content";

  it("notices new, changed, moved and new folders' files by itself", async () => {
    mkdirSync(path.join(folder, "deep"));
    expect(own.sources.fileWatch()).toMatchObject({ state: "off" });
    own.sources.watchFiles();
    await afterWalk(
      () => void own.sources.grant("files", folder),
      () => own.sources.fileWatch().folders === 2,
    );
    expect(own.sources.fileWatch()).toMatchObject({ state: "watching", problem: undefined });
    const put = (file: string): void => writeFileSync(path.join(folder, file), "words");
    await afterWalk(
      () => put("new.txt"),
      () => found("new.txt"),
    );
    await afterWalk(
      () => put("deep/inner.txt"),
      () => found("deep/inner.txt"),
    );
    const [from, to] = [path.join(folder, "deep"), path.join(folder, "moved")];
    await afterWalk(
      () => renameSync(from, to),
      () => found("moved/inner.txt") && !found("deep/inner.txt"),
    );
    await afterWalk(
      () => put("moved/more.txt"),
      () => found("moved/more.txt"),
    );
    await afterWalk(
      () => void own.sources.revoke("files", folder),
      () => own.sources.fileWatch().folders === 0,
    );
  });

  it("survives a root that goes away and comes back", async () => {
    const root = path.join(folder, "drive");
    mkdirSync(root);
    own.sources.watchFiles();
    await afterWalk(
      () => void own.sources.grant("files", root),
      () => own.sources.fileWatch().folders === 1,
    );
    await afterWalk(
      () => rmSync(root, { recursive: true }),
      () => own.sources.fileWatch().folders === 0,
    );
    mkdirSync(root);
    writeFileSync(path.join(root, "back.txt"), "words");
    expect((await own.sources.indexFiles(10_000)).problems).toEqual([]);
    expect(own.sources.fileWatch().folders).toBe(1);
    expect(found("drive/back.txt")).toBe(true);
  });
});

describe("watches", () => {
  let clock: ManualClock;
  let due: number;
  let change: () => void;
  let fails: Error | undefined;
  let watcher: FileWatcher;

  beforeEach(() => {
    clock = createManualClock(0);
    due = 0;
    fails = undefined;
    watcher = createFileWatcher({
      clock,
      onDue: () => (due += 1),
      watch: (_folder, onChange) => {
        if (fails !== undefined) throw fails;
        change = onChange;
        return () => undefined;
      },
    });
  });
  const walk = async (folders: readonly string[], tookMs: number): Promise<void> => {
    watcher.begun();
    folders.forEach(watcher.entering);
    await clock.advance(tookMs);
    watcher.ended();
  };

  it("make one walk of many changes, and rest ten times as long as it took", async () => {
    watcher.start();
    await clock.advance(0);
    expect(due).toBe(1);
    await walk(["/a"], 500);
    for (let times = 0; times < 100; times += 1) change();
    await clock.advance(quietMs);
    expect(due).toBe(1);
    await clock.advance(4_000);
    expect(due).toBe(2);
    await walk(["/a"], 0);
    change();
    await clock.advance(quietMs);
    expect(due).toBe(3);
  });

  it("ask for another walk when something changed behind the one that goes on", async () => {
    watcher.start();
    await clock.advance(0);
    watcher.begun();
    watcher.entering("/a");
    change();
    await clock.advance(quietMs);
    // Told while it walks: whoever walks does not begin twice.
    expect(due).toBe(2);
    watcher.ended();
    await clock.advance(quietMs * 11);
    expect(due).toBe(3);
  });

  it("are bounded, and say what is not watched; an hour later all is looked at", async () => {
    watcher.start();
    await clock.advance(0);
    await walk(
      Array.from({ length: maxWatched + 1 }, (_, at) => `/${at}`),
      0,
    );
    expect(watcher.view()).toEqual({
      state: "partly",
      folders: maxWatched,
      problem: `${maxWatched} folders are the most that are watched`,
    });
    await clock.advance(3_600_000);
    expect(due).toBe(2);
    await walk([], 0);
    fails = Object.assign(new Error("no space left"), { code: "ENOSPC", syscall: "watch" });
    await walk(["/new"], 0);
    expect(watcher.view()).toMatchObject({ state: "partly", folders: 0 });
    expect(watcher.view().problem).toContain("no space left");
  });
});
