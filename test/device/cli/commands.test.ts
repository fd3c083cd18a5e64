/**
 * Every command's form: its JSON, its exit code, and what it does where nobody can be asked. In front
 * of a device without network, over a real library.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Device } from "../../../src/device/device.ts";
import { err, ok } from "../../../src/shared/result.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { type FakeDevice, fakeDevice, fakeIdentity } from "../../support/fake-device.ts";

let dataDir: string;
let fake: FakeDevice;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-cli-"));
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
  fake = fakeDevice();
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

/** A fresh device over the same library, or one with other answers. */
function setting(more: CliSetting = {}, parts: Partial<Device> = {}): CliSetting {
  const device: Device = { ...fake.device, ...parts };
  return { dataDir, openDevice: () => Promise.resolve(ok(device)), ...more };
}

const run = (args: readonly string[], more: CliSetting = {}): Promise<CliRun> =>
  cli(args, setting(more));
const json = (
  args: readonly string[],
  more: CliSetting & { readonly code?: number } = {},
): Promise<unknown> => cliJson(args, { ...setting(more), ...more });

describe("help", () => {
  it("opens with examples, everywhere", async () => {
    const root = await run(["--help"]);
    expect(root.code).toBe(0);
    expect(root.out.startsWith("Examples:\n  pixie relay start\n")).toBe(true);
    expect(root.out).toContain("Exit codes");
    for (const args of [
      ["send"],
      ["read"],
      ["skill", "accept"],
      ["device", "link"],
      ["contact", "invite"],
    ]) {
      const help = await run([...args, "--help"]);
      expect(help.out.startsWith("Examples:\n  ")).toBe(true);
      expect(help.out).toContain("--json");
      expect(help.out).toContain("--data-dir");
    }
  });

  it("hints at the command that was meant", async () => {
    const typo = await run(["skill", "lisst"]);
    expect(typo).toMatchObject({ code: 2, out: "" });
    expect(typo.err).toContain("list");
  });

  it("prints the version and nothing else", async () => {
    expect(await run(["--version"])).toMatchObject({ code: 0, out: "0.1.0\n", err: "" });
  });

  it.each([[["send"]], [["skill", "show"]], [["read", "--what"]], [["skill"]], [[]]])(
    "%j is a usage error",
    async (args) => {
      expect((await run(args)).code).toBe(2);
    },
  );

  it.each(["plan", "goal"])("another device is not asked in mode %s", async (mode) => {
    const refused = await run(["ask", "what is on?", "--mode", mode, "--on", "laptop"]);
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("--on: another device answers in mode agent only");
  });
});

describe("--json", () => {
  it("puts one value on the standard output, and names every field", async () => {
    expect(await json(["device", "status"])).toEqual({
      identity: fakeIdentity,
      connection: "ready",
      outboxOpen: 0,
      setAside: 0,
      relayOffsetMs: 0,
      daemonPid: null,
    });
    expect(await json(["device", "devices"])).toMatchObject([{ state: "admin", thisDevice: true }]);
    expect(await json(["device", "doctor"])).toMatchObject({
      checks: [{ check: "store", good: true }, {}, {}, {}, {}],
    });
    expect(await json(["contact", "list"])).toMatchObject([{ name: "ben", reason: null }]);
    expect(await json(["contact", "invite"])).toEqual({ link: "pixie-invite:x", expiresMs: 2 });
    expect(await json(["contact", "accept", "pixie-invite:x"])).toMatchObject({ name: "ben" });
    expect(await json(["send", "ben", "hi"])).toEqual({
      messageId: "M".repeat(22),
      delivery: { state: "accepted", copies: [], reason: null },
    });
    expect(await json(["read"])).toEqual([]);
    expect(await json(["skill", "list"])).toHaveLength(3);
    expect(await json(["skill", "show", "@search-info"])).toMatchObject({
      id: "search-info",
      reaches: ["check-notebook", "list-devices", "find-file", "grep-memory", "fetch-file"],
      unknown: [],
    });
    expect(await json(["skill", "disable", "fetch-file"])).toEqual({
      id: "fetch-file",
      enabled: false,
    });
    expect(await json(["skill", "rename", "fetch-file", "fetch"])).toMatchObject({ id: "fetch" });
    expect(await json(["skill", "delete", "fetch", "--yes"])).toMatchObject({ id: "fetch" });
  });

  it("puts an error on the error output, and nothing on the other", async () => {
    const failed = await run(["skill", "show", "nobody", "--json"]);
    expect(failed).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(failed.err)).toMatchObject({ error: { type: "no-such-skill" } });
  });
});

describe("without a terminal", () => {
  it.each([
    [["device", "init"], "--relay"],
    [["device", "init", "--relay", "http://x"], "--name"],
    [["device", "link"], "--code"],
    [["device", "link", "--relay", "http://x"], "--digits-file"],
    [["device", "link", "--code", "pixie-link:x"], "--yes"],
    [["skill", "new", "week"], "--summary"],
    [["skill", "new", "week", "--summary", "x"], "--body-file"],
    [["skill", "edit", "search-info"], "--body-file"],
    [["skill", "accept", "share"], "--hash"],
  ])("%j asks nobody: it names %s", async (args, flag) => {
    const refused = await run(args);
    expect(refused).toMatchObject({ code: 2, out: "", questions: [] });
    expect(refused.err).toContain(flag);
  });

  it("deleting what is mentioned waits for --yes", async () => {
    const refused = await run(["skill", "delete", "fetch-file"]);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.err).toMatch(/@search-info.*--yes/);
    expect(await json(["skill", "list"])).toHaveLength(3);
  });
});

describe("with a person at a terminal", () => {
  it("asks for what is missing, and takes the text from the editor", async () => {
    const made = await run(["skill", "new", "Week"], {
      answers: ["My week."],
      edit: () => "Use @calendar.\r\n",
    });
    expect(made).toMatchObject({ code: 0, out: "saved @week\n" });
    expect(await json(["skill", "show", "week"])).toMatchObject({
      shortDescription: "My week.",
      detailedBody: "Use @calendar.",
    });
    const edited = await run(["skill", "edit", "week"], {
      answers: [],
      edit: (text) => `${text}\nThen rest.\n`,
    });
    expect(edited.code).toBe(0);
    expect(await json(["skill", "show", "week"])).toMatchObject({
      detailedBody: "Use @calendar.\nThen rest.",
    });
  });

  it("gives full access only after a yes, and warns first", async () => {
    const refused = await run(["device", "link", "--code", "pixie-link:x"], { answers: ["y"] });
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.err).toContain("full access");
    fake.settleGrant();
    const linking = run(["device", "link", "--code", "pixie-link:x"], {
      answers: ["yes"],
      onOut: () => fake.settleGrant(),
    });
    const granted = await linking;
    expect(granted.out).toContain("1234 5678");
    expect(granted.code).toBe(0);
  });

  it("deletes after a yes only", async () => {
    expect(await run(["skill", "delete", "check-schedule"], { answers: ["no"] })).toMatchObject({
      code: 4,
    });
    expect(await run(["skill", "delete", "check-schedule"], { answers: ["yes"] })).toMatchObject({
      code: 0,
    });
    expect(await json(["skill", "list"])).toHaveLength(2);
  });
});

const state = (now: "queued" | "failed"): CliSetting =>
  setting({}, { delivery: () => ({ state: now, copies: [], reason: "no key of theirs" }) });

describe("device trouble", () => {
  it("a folder without an account is named, and is not created by looking", async () => {
    const absent = path.join(dataDir, "absent");
    const looked = await cli(["skill", "list"], { dataDir: absent });
    expect(looked).toMatchObject({ code: 3, out: "" });
    expect(looked.err).toContain("pixie device init");
    expect((await cli(["device", "run"], { dataDir: absent })).code).toBe(3);
    expect(readdirSync(dataDir)).toEqual(["store-key.json"]);
  });

  it("a setting that is not understood is named with its value", async () => {
    const odd = await run(["skill", "list"], { env: { PIXIE_KEYRING: "maybe" } });
    expect(odd).toMatchObject({ code: 2 });
    expect(odd.err).toContain('PIXIE_KEYRING: expected on or off, got "maybe"');
    const absent = await run(["skill", "list"], { env: { PIXIE_PASSPHRASE_FILE: "/nonexistent" } });
    expect(absent).toMatchObject({ code: 2 });
    expect(absent.err).toContain("PIXIE_PASSPHRASE_FILE");
  });

  it("waits for a folder that another command holds, then says who holds it", async () => {
    let nowMs = 0;
    const clock = {
      nowMs: () => nowMs,
      schedule: (delayMs: number, wake: () => void) => {
        nowMs += delayMs;
        queueMicrotask(wake);
        return () => undefined;
      },
    };
    let tries = 0;
    const locked = err({ type: "locked", message: "in use by process 42" });
    const refused = await run(["skill", "list"], {
      clock,
      openDevice: () => Promise.resolve(locked),
    });
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.err).toContain("process 42");
    const waited = await run(["skill", "list", "--json"], {
      clock,
      openDevice: () => Promise.resolve((tries += 1) < 5 ? locked : ok(fake.device)),
    });
    expect(waited.code).toBe(0);
    expect(tries).toBe(5);
  });

  it("always closes what it opened, also when the command fails", async () => {
    await run(["skill", "show", "nobody"]);
    expect(fake.calls.filter((call) => call === "close")).toHaveLength(1);
  });

  it("a message that waits at home has an exit code of its own, a dead one another", async () => {
    expect(await cli(["send", "ben", "x"], state("queued"))).toMatchObject({ code: 5 });
    expect(await cli(["send", "ben", "x"], state("failed"))).toMatchObject({ code: 4 });
  });

  it("reads a text from the standard input, without the line end that tools add", async () => {
    await run(["send", "ben", "-"], { input: "two\nlines\n" });
    await run(["send", "ben"], { input: "piped" });
    expect(fake.calls.filter((call) => call.startsWith("send"))).toEqual([
      "send ben two\nlines",
      "send ben piped",
    ]);
  });
});
