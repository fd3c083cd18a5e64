/** The commands in front of sources, over real files and a store in memory. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { ok } from "../../../src/shared/result.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { fakeDevice } from "../../support/fake-device.ts";

let base: string;
let setting: CliSetting;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "pixie-sources-")));
  const dataDir = path.join(base, "device");
  mkdirSync(dataDir);
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
  const { device } = fakeDevice();
  setting = { dataDir, openDevice: () => Promise.resolve(ok(device)) };
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const run = (...args: readonly string[]): Promise<CliRun> => cli(args, setting);
const json = (...args: readonly string[]): Promise<unknown> => cliJson(args, setting);

describe("pixie notebook", () => {
  it("adds, lists, edits, searches and deletes", async () => {
    expect(await run("notebook", "add", "key at Nora's")).toMatchObject({
      code: 0,
      out: "1: noted\n",
    });
    await cli(["notebook", "add", "-"], { ...setting, input: "from a pipe\n" });
    expect(await json("notebook", "list")).toHaveLength(2);
    expect((await run("notebook", "edit", "1", "key at Ben's")).code).toBe(0);
    expect((await run("notebook", "search", "key")).out).toContain("key at Ben's");
    expect(await run("notebook", "delete", "1")).toMatchObject({ code: 0 });
    expect(await run("notebook", "delete", "1")).toMatchObject({ code: 3, out: "" });
    expect(await run("notebook", "delete", "one")).toMatchObject({ code: 2 });
    expect(await run("notebook", "add", " ")).toMatchObject({ code: 4 });
  });
});

describe("pixie memory", () => {
  it("lists, searches and names what is wrong", async () => {
    expect(await json("memory", "list")).toEqual([]);
    expect((await run("memory", "search", "x")).out).toContain("no line with these words");
    expect(await run("memory", "list", "--last", "0")).toMatchObject({ code: 2 });
    expect(await run("memory", "redact", "5")).toMatchObject({ code: 3 });
    expect(await run("memory", "search", "*")).toMatchObject({ code: 4, out: "" });
  });
});

describe("pixie calendar", () => {
  it("N12: shows nothing before a calendar is added, its events after, nothing once it is removed", async () => {
    const file = path.join(base, "cal.ics");
    const lines = ["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:1", "SUMMARY:Market"];
    lines.push("DTSTART;VALUE=DATE:20981205", "END:VEVENT", "END:VCALENDAR", "");
    writeFileSync(file, lines.join("\r\n"));
    const show = ["calendar", "show", "--from", "2098-12-05", "--to", "2098-12-06"];
    const closed = await run(...show);
    expect(closed).toMatchObject({ code: 4, out: "" });
    expect(closed.err).toContain("pixie calendar add");
    expect(await json("calendar", "add", file)).toMatchObject({ kind: "calendar", target: file });
    expect((await run(...show)).out).toBe("Friday 5 December 2098, all day: Market\n");
    expect((await run("calendar", "show")).code).toBe(0);
    expect(await run("calendar", "show", "--from", "2026-12-05")).toMatchObject({ code: 2 });
    expect(await run("calendar", "add", file)).toMatchObject({ code: 7 });
    expect((await run("calendar", "list")).out).toBe(`calendar  ${file}\n`);
    expect((await run("calendar", "remove", file)).code).toBe(0);
    expect((await run(...show)).code).toBe(4);
  });
});

describe("pixie files", () => {
  it("indexes a folder when it is added, finds in it, and forgets it when it is removed", async () => {
    const folder = path.join(base, "docs");
    mkdirSync(folder);
    writeFileSync(path.join(folder, "letter.txt"), "about walnuts");
    expect(await json("files", "add", folder)).toMatchObject({ state: "done", text: 1 });
    expect((await run("files", "search", "walnuts")).out).toContain("letter.txt");
    expect((await run("files", "index")).out).toContain("indexed: 1 files by content");
    expect((await run("files", "remove", folder)).code).toBe(0);
    expect((await run("files", "search", "walnuts")).err).toContain("pixie files add");
    expect(await json("files", "index")).toMatchObject({ text: 0, nameOnly: 0, passedOver: 0 });
    expect((await run("files", "add", path.join(base, "absent"))).code).toBe(4);
  });

  it("stopping keeps what is done", async () => {
    const folder = path.join(base, "many");
    mkdirSync(folder);
    writeFileSync(path.join(folder, "a.txt"), "a");
    const stopped = await cli(["files", "add", folder], { ...setting, stopped: Promise.resolve() });
    expect(stopped).toMatchObject({ code: 0 });
  });
});

describe("pixie context and pixie date", () => {
  it("N12: lists, grants and revokes", async () => {
    expect((await run("context", "list")).out).toBe("memory\nnotebook\n");
    expect((await run("context", "revoke", "memory")).code).toBe(0);
    expect((await run("memory", "search", "x")).err).toContain("pixie context grant memory");
    expect((await run("context", "grant", "memory")).code).toBe(0);
    expect(await run("context", "grant", "everything")).toMatchObject({ code: 2 });
    expect(await run("context", "grant", "files")).toMatchObject({ code: 2 });
    expect(await run("context", "revoke", "files", base)).toMatchObject({ code: 3 });
  });

  it("A37: shows what current_date returns", async () => {
    const shown = await run("date");
    expect(shown.out).toMatch(/^today: \d{4}-\d{2}-\d{2} \(/);
    expect(shown.out).toContain("next 7 days: ");
    expect(await json("date")).toMatchObject({ ok: true, untrusted: false });
  });
});
