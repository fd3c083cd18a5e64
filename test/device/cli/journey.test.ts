/**
 * The whole way at the command line, against a real relay: accounts, an invite, messages, a shared
 * skill, a second device; first without daemons, then with one.
 */
import { once, EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Type } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { startRelay } from "../../support/relay.ts";

let root: string;
let database: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), "pixie-journey-"));
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
});
afterAll(async () => {
  await relay.close();
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});

const folder = (name: string): string => path.join(root, name);
const as = (name: string, setting: CliSetting = {}): CliSetting => ({
  dataDir: folder(name),
  ...setting,
});

async function register(name: string): Promise<void> {
  await cliJson(["device", "init", "--relay", relay.url, "--name", name], as(name));
}

async function befriend(inviter: string, guest: string): Promise<void> {
  const invited = await cliJson(["contact", "invite"], as(inviter));
  const { link } = Value.Parse(Type.Object({ link: Type.String() }), invited);
  await cliJson(["contact", "accept", link], as(guest));
  await cliJson(["contact", "list"], as(inviter));
  await cliJson(["contact", "list"], as(guest));
}

/** A daemon in this process; stops when told to. */
async function daemon(name: string): Promise<{ readonly stop: () => Promise<CliRun> }> {
  const signals = new EventEmitter();
  const stopped = once(signals, "stop").then(() => undefined);
  const ready = once(signals, "ready");
  const running = cli(["device", "run", "--json"], {
    ...as(name),
    stopped,
    onOut: (text) => void (text.includes('"ready":true') && signals.emit("ready")),
  });
  await Promise.race([ready, running.then((run) => Promise.reject(new Error(run.err)))]);
  return {
    stop: () => {
      signals.emit("stop");
      return running;
    },
  };
}

const shares = Type.Array(
  Type.Object({ messageId: Type.String(), kind: Type.String(), fromMe: Type.Boolean() }),
);

async function receivedShare(name: string): Promise<string> {
  const read = Value.Parse(shares, await cliJson(["read"], as(name)));
  const share = read.find((message) => message.kind === "skill-share" && !message.fromMe);
  if (share === undefined) throw new Error(`no share at ${name}`);
  return share.messageId;
}

async function ownShare(name: string): Promise<string> {
  const read = Value.Parse(shares, await cliJson(["read", "--offline"], as(name)));
  return read.find((message) => message.kind === "skill-share" && message.fromMe)?.messageId ?? "";
}

describe("without a daemon", () => {
  it("O33: an account needs no terminal: names the missing flag instead of asking", async () => {
    const missing = await cli(["device", "init", "--relay", relay.url], as("nameless"));
    expect(missing).toMatchObject({ code: 2, out: "" });
    expect(missing.err).toContain("--name");
    const made = await cli(
      ["device", "init", "--relay", relay.url, "--name", "Nameless"],
      as("nameless"),
    );
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/Recovery code, shown this once:\n {2}[0-9A-Z-]{60,}/);
    expect(made.questions).toEqual([]);
    const again = await cli(
      ["device", "init", "--relay", relay.url, "--name", "N"],
      as("nameless"),
    );
    expect(again.code).toBe(7);
  });

  it("two people become contacts, write, share a skill, review and import it", async () => {
    await register("alice");
    await register("bob");
    await befriend("alice", "bob");
    expect(await cliJson(["contact", "list"], as("bob"))).toMatchObject([
      { name: "alice", relation: "contact", reachable: true, reason: null },
    ]);

    const sent = await cliJson(["send", "bob", "see you\nat six"], as("alice"));
    expect(sent).toMatchObject({ delivery: { state: "accepted" } });
    const read = await cli(["read"], as("bob"));
    expect(read.out).toMatch(/ {2}alice:\n {4}see you\n {4}at six\n/);

    await cliJson(["skill", "new", "Week", "--summary", "My week.", "--body-file", "-"], {
      ...as("alice"),
      input: "Use @calendar, then rest.\n",
    });
    await cliJson(["skill", "share", "@week", "bob"], as("alice"));
    const message = await receivedShare("bob");

    const review = await cli(["skill", "review", message.slice(0, 7)], as("bob"));
    expect(review.code).toBe(0);
    expect(review.out).toContain("  │ Use @calendar, then rest.");
    expect(review.out).toContain("Tools it can reach: @calendar");
    const command = /pixie (skill accept \S+ --hash \S+)/.exec(review.out)?.[1] ?? "";
    const accepted = await cli(command.split(" "), as("bob"));
    expect(accepted).toMatchObject({ code: 0, out: "Imported @week.\n" });
    const own = await cli(["skill", "review", await ownShare("alice")], as("alice"));
    expect(own).toMatchObject({ code: 4 });
    expect(own.err).toContain("you shared this skill yourself");
  });

  it("says that it cannot reach the relay, and keeps what was written", async () => {
    await register("carol");
    await register("dan");
    await befriend("carol", "dan");
    await relay.close();
    try {
      const sent = await cli(["send", "dan", "later", "--json"], as("carol"));
      expect(sent.code).toBe(5);
      expect(JSON.parse(sent.out)).toMatchObject({ delivery: { state: "queued" } });
      expect(sent.err).toContain("it is kept");
      const read = await cli(["read"], as("dan"));
      expect(read.code).toBe(0);
      expect(read.err).toContain("not connected to the relay");
      expect((await cli(["device", "doctor"], as("dan"))).code).toBe(5);
    } finally {
      const { port } = relay;
      relay = await startRelay({ databaseUrl: database.url, config: { port } });
    }
    await cliJson(["device", "status"], as("carol"));
    const read = await cli(["read", "carol"], as("dan"));
    expect(read.out).toContain("later");
  });

  it("links a second device: digits by file on one side, --yes on the other", async () => {
    await register("erin");
    const codes = new EventEmitter();
    const shown = once(codes, "code");
    const digits: Record<string, string> = {};
    const digitsFile = path.join(root, "digits");
    const joining = cli(
      ["device", "link", "--relay", relay.url, "--digits-file", digitsFile, "--json"],
      {
        ...as("erin-phone"),
        files: digits,
        onOut: (text) => void (text.includes('"code"') && codes.emit("code", JSON.parse(text))),
      },
    );
    const [offer] = await shown;
    const { code } = Value.Parse(Type.Object({ code: Type.String() }), offer);
    expect(await cli(["device", "link", "--code", code], as("erin"))).toMatchObject({ code: 2 });
    const granting = cli(["device", "link", "--code", code, "--yes", "--json"], {
      ...as("erin"),
      onOut: (text) => {
        const found = /"digits":"([0-9]{8})"/.exec(text)?.[1];
        if (found === undefined) return;
        digits[digitsFile] = `${found.slice(0, 4)} ${found.slice(4)}\n`;
        writeFileSync(digitsFile, digits[digitsFile]);
      },
    });
    const [joined, granted] = await Promise.all([joining, granting]);
    expect(joined).toMatchObject({ code: 0 });
    expect(granted).toMatchObject({ code: 0 });
    expect(joined.out).toContain('"accountName":"erin"');
    expect(await cliJson(["device", "devices"], as("erin"))).toMatchObject([
      { state: "admin", thisDevice: true },
      { state: "active", thisDevice: false },
    ]);
  });
});

describe("with a daemon", () => {
  it("the same commands go through its socket, and a second daemon is refused", async () => {
    await register("fay");
    await register("gus");
    await befriend("fay", "gus");
    const running = await daemon("fay");
    expect(await cliJson(["device", "status"], as("fay"))).toMatchObject({
      connection: "ready",
      daemonPid: process.pid,
    });
    await cliJson(["send", "gus", "hello"], as("fay"));
    const answered = await cliJson(["send", "fay", "hello back"], as("gus"));
    expect(answered).toMatchObject({
      delivery: { state: expect.stringMatching(/accepted|confirmed/) },
    });
    expect((await cli(["read", "gus"], as("fay"))).out).toContain("hello back");
    const second = await cli(["device", "run"], as("fay"));
    expect(second).toMatchObject({ code: 6 });
    expect(second.err).toContain(String(process.pid));
    expect(
      (await cli(["device", "init", "--relay", relay.url, "--name", "x"], as("fay"))).code,
    ).toBe(7);
    const ended = await running.stop();
    expect(ended.code).toBe(0);
    expect(ended.out).toMatch(/"type":"message"/);
    expect(await cliJson(["device", "status"], as("fay"))).toMatchObject({ daemonPid: null });
  });
});
