/** Documents in their worker: what they say, and that none of them harms the device. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";

import {
  createDocumentReader,
  type DocumentKind,
} from "../../../src/device/sources/document-reader.ts";
import { createFileIndexer } from "../../../src/device/sources/file-indexer.ts";
import { searchFiles } from "../../../src/device/sources/file-search.ts";
import { whyFile } from "../../../src/device/sources/file-why.ts";
import { inflatesWithin } from "../../../src/device/sources/zip-size.ts";
import { addContextGrant } from "../../../src/device/store/context.ts";
import { countFiles } from "../../../src/device/store/files.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { docxOf, pdfOf, zipOf } from "../../support/documents.ts";
import { memoryStore } from "../../support/library.ts";

const reader = createDocumentReader(systemClock);
afterAll(() => reader[Symbol.dispose]());

const read = (kind: DocumentKind, bytes: Uint8Array<ArrayBuffer>) => reader.read({ kind, bytes });

describe("a document", () => {
  it("says its text", async () => {
    expect(await read("pdf", pdfOf("passport number"))).toMatchObject({ state: "text" });
    const pdf = await read("pdf", pdfOf("passport number"));
    expect(pdf.state === "text" && pdf.text).toContain("passport number");
    const docx = await read("docx", docxOf("rent is due"));
    expect(docx.state === "text" && docx.text).toContain("rent is due");
  });

  it("that is damaged or encrypted is told by type, and the next one is read", async () => {
    expect(await read("pdf", new Uint8Array([1, 2, 3]))).toEqual({ state: "broken" });
    expect(await read("pdf", pdfOf("secret", true))).toEqual({ state: "encrypted" });
    expect(await read("docx", new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]))).toEqual({
      state: "encrypted",
    });
    expect(await read("docx", zipOf({ "other.xml": "<a/>" }))).toEqual({ state: "broken" });
    expect(await read("docx", docxOf("after"))).toMatchObject({ state: "text" });
  });

  it("that inflates beyond its bound is refused before it is parsed", async () => {
    const bomb = zipOf({ "word/document.xml": Buffer.alloc(65 * 1_048_576) });
    expect(bomb.length).toBeLessThan(1_048_576);
    expect(await read("docx", bomb)).toEqual({ state: "too-heavy" });
  });

  it("that does not end costs its worker, and nothing else", async () => {
    using hasty = createDocumentReader({
      // Time is up before the worker has even started.
      schedule: (_delayMs, run) => {
        const soon = setImmediate(run);
        return () => clearImmediate(soon);
      },
    });
    expect(await hasty.read({ kind: "pdf", bytes: pdfOf("slow") })).toEqual({ state: "too-heavy" });
    expect(await read("pdf", pdfOf("still here"))).toMatchObject({ state: "text" });
  });
});

describe("the size of an archive", () => {
  const zip = Buffer.from(zipOf({ a: "x".repeat(1_000), b: "y".repeat(1_000) }));

  it("is counted over all entries, by inflating", () => {
    expect([1_999, 2_000, 2_001].map((bound) => inflatesWithin(zip, bound))).toEqual([
      "too-heavy",
      "fits",
      "fits",
    ]);
  });

  it("is not what a directory claims, and nothing broken is read", () => {
    const broken = [zip.subarray(0, 20), zip.subarray(0, -30), Buffer.from("PK")];
    expect(broken.map((bytes) => inflatesWithin(bytes, 9_999))).toEqual([
      "broken",
      "broken",
      "broken",
    ]);
  });
});

describe("why", () => {
  let base: string;
  let root: string;
  const store = memoryStore();
  const indexer = createFileIndexer(store, () => 0, reader);
  beforeEach(() => {
    base = realpathSync(mkdtempSync(path.join(tmpdir(), "pixie-why-")));
    root = path.join(base, "granted");
    mkdirSync(root);
    store.write((tx) => addContextGrant(tx, { kind: "files", target: root, grantedMs: 0 }));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  afterAll(() => store.close());

  it("A43: every file is found by content, by name or not at all, and the reason is told", async () => {
    writeFileSync(path.join(root, "lease.docx"), docxOf("the landlord keeps a parrot"));
    writeFileSync(path.join(root, "locked.pdf"), pdfOf("secret", true));
    writeFileSync(path.join(root, "torn.pdf"), "no pdf");
    writeFileSync(path.join(root, "photo.jpg"), new Uint8Array([0, 1]));
    writeFileSync(path.join(root, ".gitignore"), "build/\n");
    mkdirSync(path.join(root, "build"));
    writeFileSync(path.join(root, "build", "out.txt"), "x");
    writeFileSync(path.join(base, "elsewhere.txt"), "x");
    symlinkSync(path.join(base, "elsewhere.txt"), path.join(root, "link.txt"));
    while ((await indexer.step(1_000)).state !== "done");
    expect(store.read((tx) => searchFiles(tx, "parrot", 5))?.files).toMatchObject([
      { path: path.join(root, "lease.docx"), by: "content" },
    ]);
    const why = (name: string): string => {
      const view = store.read((tx) => whyFile(tx, path.join(root, name)));
      return `${view.foundBy}: ${view.reason}`;
    };
    expect(why("lease.docx")).toContain("content: its name and its content");
    expect(why("locked.pdf")).toContain("name: the document is encrypted");
    expect(why("torn.pdf")).toContain("name: the document is damaged");
    expect(why("photo.jpg")).toContain("name: it is no plain text");
    expect(why("build/out.txt")).toContain("build/: an ignore file leaves it out");
    expect(why("link.txt")).toContain("nothing: it is a link that leads out");
    expect(why("later.txt")).toBe("nothing: nothing is there");
    expect(why("../elsewhere.txt")).toContain(root);
    writeFileSync(path.join(root, "later.txt"), "x");
    expect(why("later.txt")).toBe("nothing: the index has not seen it yet");
  });

  it("what could not be read is not tried again until it changes", async () => {
    writeFileSync(path.join(root, "torn.pdf"), "no pdf");
    let reads = 0;
    const counting = createFileIndexer(store, () => 0, {
      read: () => Promise.resolve({ state: "broken" } as const).finally(() => (reads += 1)),
    });
    for (let walk = 0; walk < 2; walk += 1) while ((await counting.step(1_000)).state !== "done");
    expect(reads).toBe(1);
    expect(store.read(countFiles).get("broken")).toBeGreaterThan(0);
  });
});
