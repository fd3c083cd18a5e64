/** One holder of a data folder at a time, and none that blocks after a crash. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { lockFolder } from "../../../src/relay/db/folder-lock.ts";
import { startChild } from "../../support/child.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-lock-"));
  file = path.join(folder, "relay.lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const stale = {
  pid: process.pid,
  start: "another start",
  nonce: "00000000-0000-4000-8000-000000000000",
};

function expectOurs(): void {
  expect(readdirSync(folder)).toEqual(["relay.lock"]);
  expect(lockFolder(file)).toEqual({
    ok: false,
    error: { type: "locked", holderPid: process.pid },
  });
}

describe("lockFolder", () => {
  it("O10: refuses a second holder and names the first", () => {
    expect(lockFolder(file).ok).toBe(true);
    expect(lockFolder(file)).toEqual({
      ok: false,
      error: { type: "locked", holderPid: process.pid },
    });
  });

  it("can be taken again after it was released, and leaves nothing behind", () => {
    const lock = lockFolder(file);
    expect(readdirSync(folder)).toEqual(["relay.lock"]);
    if (lock.ok) lock.value.release();
    expect(readdirSync(folder)).toEqual([]);
    expect(lockFolder(file).ok).toBe(true);
  });

  it.each([
    ["of a process whose pid another one has now", JSON.stringify(stale)],
    ["that a power cut emptied", ""],
    ["of another shape", '{"pid":"1"}'],
  ])("takes over a lock %s", (_, content) => {
    writeFileSync(file, content);
    expect(lockFolder(file).ok).toBe(true);
    expectOurs();
  });

  it("takes over from one that died while it took over", () => {
    writeFileSync(file, JSON.stringify(stale));
    writeFileSync(
      `${file}.${stale.nonce}`,
      JSON.stringify({ ...stale, nonce: "00000000-0000-4000-8000-000000000001" }),
    );
    expect(lockFolder(file).ok).toBe(true);
    expectOurs();
  });

  it("lets exactly one of several processes take over", async () => {
    writeFileSync(file, JSON.stringify(stale));
    const children = Array.from({ length: 4 }, () =>
      startChild("test/relay/db/children/take-lock.ts", [file]),
    );
    await Promise.all(children.map((child) => child.nextLine()));
    for (const child of children) child.process.stdin.write("go\n");
    const said = await Promise.all(children.map((child) => child.nextLine()));
    for (const child of children) child.process.stdin.end();
    await Promise.all(children.map((child) => child.ended));
    const holder = children[said.indexOf("held")]?.pid;
    expect(said.toSorted()).toEqual([
      "held",
      ...Array.from({ length: 3 }, () => `locked by ${holder}`),
    ]);
  });
});
