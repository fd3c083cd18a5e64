/** find_file over real folders and an index in memory. */
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { DocumentReading } from "../../../src/device/sources/document-reader.ts";
import { createFileIndexer, type FileIndexer } from "../../../src/device/sources/file-indexer.ts";
import { addContextGrant } from "../../../src/device/store/context.ts";
import { countFiles } from "../../../src/device/store/files.ts";
import type { DeviceStore } from "../../../src/device/store/sqlite.ts";
import { type AskSibling, findFile } from "../../../src/device/tools/find-file.ts";
import type { Tool, ToolResult } from "../../../src/device/tools/tool.ts";
import { memoryStore } from "../../support/library.ts";

let base: string;
let root: string;
let store: DeviceStore;
let indexer: FileIndexer;
let tool: Tool;
let nowMs: number;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "pixie-files-")));
  root = path.join(base, "granted");
  mkdirSync(root);
  store = memoryStore();
  nowMs = 0;
  indexer = createFileIndexer(store, () => nowMs, noDocuments);
  asked = [];
  sibling = { ok: false, reason: "no answer within 10 s" };
  tool = findFile({ store, indexer, ownedDevices: () => devices, askSibling });
  store.write((tx) => addContextGrant(tx, { kind: "files", target: root, grantedMs: 0 }));
});
afterEach(() => {
  store.close();
  rmSync(base, { recursive: true, force: true });
});

const noDocuments = {
  read: (): Promise<DocumentReading> => Promise.resolve({ state: "broken" }),
};
let asked: string[];
let sibling: ToolResult;
const askSibling: AskSibling = (deviceId, description, { patienceMs }) => {
  asked.push(`${deviceId[0]} ${description} ${patienceMs}`);
  return Promise.resolve(sibling);
};
const foundThere: ToolResult = {
  ok: true,
  text: "/there/kiwi.txt",
  shown: 1,
  total: 1,
  untrusted: false,
};

const devices = [
  { deviceId: "D".repeat(22), name: "laptop", thisDevice: true },
  { deviceId: "E".repeat(22), name: "phone", thisDevice: false },
];

function write(name: string, content: string | Uint8Array = ""): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}

async function find(description: string, device = "laptop"): Promise<ToolResult> {
  // Later than a walk is fresh.
  nowMs += 60_000;
  const signal = new AbortController().signal;
  return await tool.run({ description, device }, { nowMs, zone: "UTC", signal });
}

async function text(description: string, device?: string): Promise<string> {
  const result = await find(description, device);
  if (!result.ok) throw new Error(result.reason);
  return result.text;
}

describe("finding", () => {
  it("A43: finds by name and by content, names first", async () => {
    write("letters/passport.txt", "nothing of note");
    write("notes.md", "the passport lies in the blue box");
    write("passportScan2024.pdf", new Uint8Array([0x25, 0x50, 0, 1]));
    const result = await find("passport");
    expect(result).toMatchObject({ ok: true, shown: 3, total: 3, untrusted: true });
    const lines = result.ok ? result.text.split("\n") : [];
    expect(lines.map((line) => /found by (\w+)/.exec(line)?.[1])).toEqual([
      "name",
      "name",
      "content",
    ]);
    expect(lines[2]).toContain(path.join(root, "notes.md"));
  });

  it("A43: a miss names what comes near and why it was not searched", async () => {
    write("invoice-berlin.pdf", new Uint8Array([0]));
    write(".gitignore", "private/\n");
    write("private/x.txt", "x");
    const miss = await text("invoicing");
    expect(miss).toContain("no file fits");
    expect(miss).toContain("searched 1 files by name; 1 of them could not be read");
    expect(miss).toContain(path.join(root, "invoice-berlin.pdf"));
    expect(await text("privates")).toContain(
      "private/ (not searched: an ignore file leaves it out)",
    );
  });

  it("follows changes: new words, renamed and deleted files", async () => {
    write("a.txt", "apricot");
    expect(await text("apricot")).toContain("a.txt");
    write("a.txt", "blueberries");
    utimesSync(path.join(root, "a.txt"), 1, 1);
    expect(await text("apricot")).toContain("no file fits");
    expect(await text("blueberries")).toContain("a.txt");
    rmSync(path.join(root, "a.txt"));
    expect(await text("blueberries")).toContain("no file fits");
    expect(store.read(countFiles)).toEqual(new Map());
  });

  it("a file that is gone since the walk is not shown", async () => {
    write("gone.txt", "cherry");
    await find("cherry");
    rmSync(path.join(root, "gone.txt"));
    const signal = new AbortController().signal;
    // Within the time that a walk stays fresh.
    const result = await tool.run(
      { description: "cherry", device: "all" },
      { nowMs, zone: "UTC", signal },
    );
    expect(result).toMatchObject({ ok: true, shown: 0 });
  });
});

describe("bounds of a grant", () => {
  it("a link never leads out of the root, one within it is found", async () => {
    const secret = path.join(base, "secret");
    mkdirSync(secret);
    writeFileSync(path.join(secret, "diary.txt"), "dragonfruit");
    write("inside.txt", "elderberry");
    symlinkSync(path.join(secret, "diary.txt"), path.join(root, "shortcut.txt"));
    symlinkSync(secret, path.join(root, "folder"));
    symlinkSync(path.join(root, "inside.txt"), path.join(root, "alias.txt"));
    symlinkSync(root, path.join(root, "loop"));
    expect(await text("dragonfruit")).toContain("no file fits");
    expect(await text("diary")).toContain("no file fits");
    expect(await text("shortcut")).toContain("it is a link that leads out of the granted folder");
    expect(await find("elderberry")).toMatchObject({ total: 2 });
  });

  it("a root that leads somewhere else now is not walked", async () => {
    write("mine.txt", "fig");
    await find("fig");
    rmSync(root, { recursive: true });
    mkdirSync(path.join(base, "other"));
    writeFileSync(path.join(base, "other", "theirs.txt"), "grape");
    symlinkSync(path.join(base, "other"), root);
    expect(await text("grape")).toContain("no file fits");
    // A drive that is not there now may be back tomorrow.
    expect(store.read(countFiles)).toEqual(new Map([["text", 1]]));
    expect((await indexer.step(1_000)).problems.join()).toContain("it leads somewhere else now");
  });

  it("hidden and ignored files stay out, inner rules and .ignore count more", async () => {
    write(".env", "honeydew");
    write(".gitignore", "*.log\nbuild/\n!keep.log\n");
    write("x.log", "honeydew");
    write("keep.log", "honeydew");
    write("build/out.txt", "honeydew");
    write("inner/.gitignore", "!y.log\n");
    write("inner/y.log", "honeydew");
    write("inner/.ignore", "z.txt\n");
    write("inner/z.txt", "honeydew");
    const found = (await text("honeydew")).split("\n").map((line) => line.split(" (")[0]);
    const expected = ["inner/y.log", "keep.log"].map((name) => path.join(root, name));
    expect(new Set(found)).toEqual(new Set(expected));
    expect(found).toHaveLength(2);
  });
});

it("a device's own folder is never read, whoever grants it", async () => {
  write("store-key.json", "mango");
  write("other.txt", "mango");
  expect(await find("mango")).toMatchObject({ ok: true, total: 0 });
});

describe("devices", () => {
  it("asks a sibling that is named, and marks its words", async () => {
    sibling = foundThere;
    expect(await find("kiwi", "phone")).toEqual({
      ok: true,
      text: "on phone:\n/there/kiwi.txt",
      entries: ["on phone:\n/there/kiwi.txt"],
      shown: 1,
      total: 1,
      untrusted: true,
    });
    expect(asked).toEqual(["E kiwi 30000"]);
    sibling = { ok: false, reason: "no answer within 30 s" };
    expect(await find("kiwi", "E".repeat(22))).toEqual({
      ok: false,
      reason: "phone: no answer within 30 s",
    });
    const unknown = await find("kiwi", "tablet");
    expect(!unknown.ok && unknown.reason).toContain("list_devices");
  });

  it("asks all only when nothing fits here, and says who found what or did not answer", async () => {
    write("a.txt", "kiwi");
    sibling = foundThere;
    expect(await text("kiwi", "all")).toContain("1 more devices can be asked by name");
    expect(asked).toEqual([]);
    rmSync(path.join(root, "a.txt"));
    expect(await find("kiwi", "all")).toMatchObject({
      ok: true,
      text: "on phone:\n/there/kiwi.txt",
      total: 1,
    });
    expect(asked).toEqual(["E kiwi 10000"]);
    sibling = { ok: false, reason: "no answer within 10 s" };
    const miss = await text("kiwi", "all");
    expect(miss).toContain("no file fits");
    expect(miss).toContain("phone: no answer within 10 s");
  });

  it("a question of a sibling is answered from here alone", async () => {
    await find("kiwi", "here");
    expect(asked).toEqual([]);
  });

  it("without a grant it names the command", async () => {
    const bare = memoryStore();
    const other = findFile({
      store: bare,
      indexer: createFileIndexer(bare, () => 0, noDocuments),
      ownedDevices: () => devices.slice(0, 1),
      askSibling,
    });
    const signal = new AbortController().signal;
    const refused = await other.run(
      { description: "x", device: "all" },
      { nowMs: 0, zone: "UTC", signal },
    );
    expect(!refused.ok && refused.reason).toContain("pixie files add");
    bare.close();
  });
});

describe("steps", () => {
  it("a walk goes on where it stopped, shows how far it is, and forgets nothing meanwhile", async () => {
    for (let index = 0; index < 200; index += 1) write(`n/${index}.txt`, `lemon ${index}`);
    await indexer.step(1_000);
    // A clock that moves on every look: each step ends after a few files.
    let ticks = 0;
    const stepping = createFileIndexer(store, () => (ticks += 1), noDocuments);
    const first = await stepping.step(20);
    expect(first.state).toBe("running");
    expect(first.seen).toBeGreaterThan(0);
    expect(first.text).toBe(200);
    let view = first;
    while (view.state === "running") view = await stepping.step(50);
    expect(view).toMatchObject({ state: "done", text: 200, nameOnly: 0, problems: [] });
  });
});
