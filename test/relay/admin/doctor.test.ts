/** What the doctor sees on the machine and in the database; the way from outside is test/deploy. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { clockProblem } from "../../../src/relay/admin/clock-problem.ts";
import { checkDatabase } from "../../../src/relay/admin/doctor/database-checks.ts";
import { doctorAccount, readSecret } from "../../../src/relay/admin/doctor/doctor-account.ts";
import { type Finding, findingText } from "../../../src/relay/admin/doctor/finding.ts";
import { checkMachine } from "../../../src/relay/admin/doctor/machine-checks.ts";
import { findPortHolder } from "../../../src/relay/admin/port-holder.ts";
import { migrateDatabase } from "../../../src/relay/db/migrate.ts";
import { ensureDayPartitions } from "../../../src/relay/db/partitions.ts";
import { defaultConfig } from "../../../src/relay/index.ts";
import { createProbes } from "../../../src/relay/probes.ts";
import { dayOf, systemClock } from "../../../src/shared/clock.ts";
import { BackupWorld } from "../../support/backups.ts";

const world = new BackupWorld();
let folder = "";
beforeEach(() => {
  world.begin();
  folder = mkdtempSync(path.join(tmpdir(), "pixie-doctor-"));
  chmodSync(folder, 0o711);
});
afterEach(async () => {
  await world.end();
  rmSync(folder, { recursive: true, force: true });
});

const levels = (findings: readonly Finding[]): Readonly<Record<string, string>> =>
  Object.fromEntries(findings.map(({ check, level }) => [check, level]));

async function holdPort(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

describe("the machine", () => {
  it("O18: names who holds a port", async () => {
    const { server, port } = await holdPort();
    // Only Linux tells.
    const told = process.platform === "linux" ? process.pid : undefined;
    expect(findPortHolder(port)?.pid).toBe(told);
    const config = { ...defaultConfig, dataDir: path.join(folder, "relay"), port };
    const findings = await checkMachine(config, systemClock);
    expect(levels(findings)).toEqual({ clock: "ok", data_dir: "ok", port: "fail" });
    server.close();
    await once(server, "close");
    expect(findPortHolder(port)).toBeUndefined();
    expect(levels(await checkMachine(config, systemClock))["port"]).toBe("ok");
  });

  it("changes nothing in a folder that it looks at", async () => {
    const dataDir = path.join(folder, "relay");
    mkdirSync(dataDir, { mode: 0o755 });
    const before = statSync(dataDir);
    await checkMachine({ ...defaultConfig, dataDir, port: 0 }, systemClock);
    expect(statSync(dataDir)).toEqual(before);
  });

  it("O19: refuses a clock that was never set", () => {
    expect(clockProblem(0)).toMatch(/1970-01-01.*expected 2026 or later/);
    expect(clockProblem(systemClock.nowMs())).toBeUndefined();
  });
});

describe("the database", () => {
  const today = dayOf(systemClock.nowMs());

  it("is told by version, durability, clock, schema, partitions and transactions", async () => {
    const db = await world.source();
    await ensureDayPartitions(db.sql, today - 1, today + 2);
    const findings = await checkDatabase(db.sql, "18.4", systemClock);
    // The test clusters run without fsync: the doctor would not have it.
    expect(levels(findings)).toEqual({
      database: "ok",
      fsync: "fail",
      "database clock": "ok",
      schema: "ok",
      partitions: "ok",
      "oldest transaction": "ok",
    });
  });

  it("warns of partitions that nobody makes, and of a clock that runs elsewhere", async () => {
    const db = await world.source();
    await ensureDayPartitions(db.sql, today - 5, today - 4);
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 };
    expect(levels(await checkDatabase(db.sql, "18.4", clock))).toMatchObject({
      partitions: "warn",
      "database clock": "warn",
    });
  });

  it("warns of a schema that is behind, and refuses one that is ahead", async () => {
    const { sql } = await world.open(await world.emptyDatabase());
    await migrateDatabase(sql, 1);
    const behind = await checkDatabase(sql, "18.4", systemClock);
    expect(levels(behind)).toMatchObject({ schema: "warn" });
    await sql`insert into schema_migration (hash, created_at) values ('strange', 9999999999999)`;
    expect(levels(await checkDatabase(sql, "18.4", systemClock))).toMatchObject({ schema: "fail" });
  });
});

describe("the doctor's own", () => {
  it("account is one and the same every time, and private", () => {
    const file = path.join(folder, "new", "doctor.key");
    const secret = readSecret(file);
    expect(readSecret(file)).toEqual(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const mailboxOf = (origin: string): string =>
      doctorAccount(secret, origin).registration(0, undefined).account_mailbox;
    expect(mailboxOf("https://a.example")).toBe(mailboxOf("https://b.example"));
  });

  it("findings are a line, with the remedy below", () => {
    expect(findingText({ level: "ok", check: "a", found: "b" })).toBe("ok    a: b\n");
    expect(findingText({ level: "fail", check: "a", found: "b", remedy: "c\nd" })).toBe(
      "FAIL  a: b\n       c\n       d\n",
    );
  });

  it("marks are bounded, and nothing else is remembered", () => {
    const probes = createProbes();
    probes.seen("not a mark", "192.0.2.1");
    for (let n = 0; n < 20; n++) probes.seen(n.toString(16).padStart(16, "0"), `192.0.2.${n}`);
    const seen = Object.values(probes.list());
    expect(seen).toHaveLength(16);
    expect(seen).not.toContain("192.0.2.3");
    expect(seen).toContain("192.0.2.19");
  });
});
