/** Which relay a device talks to, and what an hour between two clocks does to it: nothing silent. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Type } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { type Clock, systemClock } from "../../../src/shared/clock.ts";
import { cli, cliJson, type CliSetting } from "../../support/cli.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { startRelay } from "../../support/relay.ts";

let root: string;
let database: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), "pixie-which-relay-"));
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
});
afterAll(async () => {
  await relay.close();
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});

const as = (name: string, clock: Clock = systemClock): CliSetting => ({
  dataDir: path.join(root, name),
  clock,
});
/** A clock that is off by so much. */
const offBy = (offMs: number): Clock => ({
  ...systemClock,
  nowMs: () => systemClock.nowMs() + offMs,
});
const register = (name: string, clock?: Clock): Promise<unknown> =>
  cliJson(["device", "init", "--relay", relay.url, "--name", name], as(name, clock));

it("O2: without a relay that its owner named there is no account, and nothing is contacted", async () => {
  const missing = await cli(["device", "init", "--name", "Nobody"], as("nobody"));
  expect(missing).toMatchObject({ code: 2, out: "", questions: [] });
  expect(missing.err).toContain("missing --relay <url>");
  expect(existsSync(path.join(root, "nobody"))).toBe(false);
});

it("O2: init, status and doctor each name the relay that is in use, reached or not", async () => {
  const made = await cli(["device", "init", "--relay", relay.url, "--name", "Ann"], as("ann"));
  expect(made.out).toContain(`registered at ${relay.origin}`);
  for (const command of ["status", "doctor"]) {
    const told = await cli(["device", command], as("ann"));
    expect([command, told.code, told.out]).toEqual([
      command,
      0,
      expect.stringContaining(relay.origin),
    ]);
  }
  const { port } = relay;
  await relay.close();
  const lost = await cli(["device", "doctor"], as("ann"));
  relay = await startRelay({ databaseUrl: database.url, config: { port } });
  expect([lost.code, lost.out]).toEqual([5, expect.stringContaining(relay.origin)]);
});

const hourMs = 3_600_000;
it.each([
  ["an hour ahead", hourMs],
  ["three days behind", -72 * hourMs],
  ["a year ahead", 365 * 24 * hourMs],
])("O19: a clock %s joins, writes and reads, is told, and poisons nobody", async (_, offMs) => {
  const [off, right] = [`off${offMs}`, `right${offMs}`];
  const clock = offBy(offMs);
  await register(off, clock);
  await register(right);
  const invited = await cliJson(["contact", "invite"], as(off, clock));
  const { link } = Value.Parse(Type.Object({ link: Type.String() }), invited);
  await cliJson(["contact", "accept", link], as(right));
  await cliJson(["contact", "list"], as(off, clock));
  await cliJson(["contact", "list"], as(right));

  const there = await cliJson(["send", right, "from the wrong time"], as(off, clock));
  expect(there).toMatchObject({ delivery: { state: "accepted" } });
  const back = await cliJson(["send", off, "from the right one"], as(right));
  expect(back).toMatchObject({ delivery: { state: "accepted" } });
  expect((await cli(["read"], as(right))).out).toContain("from the wrong time");
  expect((await cli(["read"], as(off, clock))).out).toContain("from the right one");

  const doctor = await cli(["device", "doctor"], as(off, clock));
  const told = /^LOOK {2}clock: (-?\d+) ms from the relay's; set this machine's clock/m.exec(
    doctor.out,
  );
  expect(Number(told?.[1]) / hourMs).toBeCloseTo(-offMs / hourMs, 1);
  expect((await cli(["device", "doctor"], as(right))).out).toMatch(/^ok {4}clock: /m);
});
