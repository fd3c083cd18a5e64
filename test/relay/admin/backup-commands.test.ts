/** The backup commands as an operator runs them, beside a running relay, and on scratch databases. */
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { runBackupOrder } from "../../../src/relay/admin/backup/backup-orders.ts";
import { openDatabase } from "../../../src/relay/db/client.ts";
import { migrateDatabase } from "../../../src/relay/db/migrate.ts";
import { createRelay, defaultConfig } from "../../../src/relay/index.ts";
import { createLog } from "../../../src/relay/log.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { err, ok } from "../../../src/shared/result.ts";
import { type Child, startChild } from "../../support/child.ts";
import { createTestDatabase } from "../../support/postgres.ts";

let folder = "";
let children: Child[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-backup-cli-"));
  // As root the embedded server is another user's, who has to pass through.
  chmodSync(folder, 0o711);
});
afterEach(async () => {
  for (const child of children) child.process.kill("SIGTERM");
  await Promise.all(children.map((child) => child.ended));
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

function pixie(...words: readonly string[]): Child {
  const child = startChild("test/relay/children/pixie-relay.ts", ["relay", ...words]);
  children.push(child);
  return child;
}

async function answer(...words: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await pixie(...words).nextLine());
}

async function refusal(...words: readonly string[]): Promise<string> {
  const child = pixie(...words);
  expect(await child.ended).toEqual({ code: 3, signal: null });
  return child.stderr();
}

it("backs up beside a running relay, verifies, and restores into a new folder", async () => {
  const [dataDir, elsewhere] = [path.join(folder, "relay"), path.join(folder, "restored")];
  const backup = path.join(folder, "backup");
  const relay = pixie("start", "--data-dir", dataDir, "--port", "0");
  const { url } = JSON.parse(await relay.nextLine());
  const { epoch } = JSON.parse(await (await fetch(`${url}/v1/info`)).text());
  const taken = await answer("backup", backup, "--data-dir", dataDir);
  expect(taken).toMatchObject({ folder: backup, epoch, rows: 1 });
  expect(await answer("verify", backup)).toMatchObject({ rows: 1, schema: taken["schema"] });
  const into = ["restore", backup, "--data-dir"];
  expect(await refusal(...into, dataDir)).toContain("is in use by the relay with pid");
  const restored = await answer(...into, elsewhere);
  expect(restored).toMatchObject({ formerEpoch: epoch, rows: 1 });
  expect(restored["epoch"]).not.toBe(epoch);
  appendFileSync(path.join(backup, "used_id.copy"), "x");
  expect(await refusal("verify", backup)).toContain("the backup is damaged: used_id.copy has 22");
}, 120_000);

it("rehearses an upgrade on a clone, starts a relay on it, and leaves the source alone", async () => {
  const { url, drop } = await createTestDatabase("embedded", "empty");
  const log = createLog({ level: "silent" });
  const source = await openDatabase({
    databaseUrl: url,
    dataDir: "",
    log,
    maxConnections: 1,
    migrate: "later",
  });
  if (!source.ok) throw new Error(source.error.message);
  const { sql } = source.value;
  await migrateDatabase(sql, 2);
  await sql`insert into used_id values (gen_random_uuid(), 'account')`;
  const clones: string[] = [];
  const rehearse = (startable: boolean) =>
    runBackupOrder(
      {
        config: { ...defaultConfig, databaseUrl: url, logLevel: "silent" },
        clock: systemClock,
        startRelay: async (dataDir) => {
          if (!startable) return err({ message: "planted" });
          const config = { ...defaultConfig, dataDir, port: 0 };
          const relay = await createRelay({ config, log });
          if (!relay.ok) return relay;
          await relay.value.close();
          clones.push(dataDir);
          return ok(undefined);
        },
      },
      { type: "rehearse-upgrade" },
    );
  const done = await rehearse(true);
  expect(done).toMatchObject({ ok: true, value: { rows: 2, fromSchema: 2, changed: [] } });
  expect(clones).toHaveLength(1);
  expect(await rehearse(false)).toMatchObject({
    ok: false,
    error: { message: "the relay does not start on the migrated clone: planted" },
  });
  expect(await sql`select 1 from schema_migration`).toHaveLength(2);
  expect(clones.filter((clone) => existsSync(clone))).toEqual([]);
  await source.value.close();
  await drop();
}, 120_000);
