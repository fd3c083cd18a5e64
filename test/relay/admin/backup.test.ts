/** Backup and restore between databases, with a relay and a device on both ends. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readManifest } from "../../../src/relay/admin/backup/backup-format.ts";
import { restoreBackup } from "../../../src/relay/admin/backup/restore-backup.ts";
import { leftOut, listTables } from "../../../src/relay/admin/backup/table-content.ts";
import { takeBackup } from "../../../src/relay/admin/backup/take-backup.ts";
import { type Database, openDatabase } from "../../../src/relay/db/client.ts";
import { migrateDatabase } from "../../../src/relay/db/migrate.ts";
import { createLog } from "../../../src/relay/log.ts";
import { createCode } from "../../../src/relay/store/registration-codes.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import {
  createTestDatabase,
  openTestDatabase,
  type TestDatabase,
  testStores,
} from "../../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "../../support/relay.ts";

const nowMs = systemClock.nowMs();
let folder = "";
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-backup-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

/** A database with one connection, as a command opens it. */
async function open(url: string): Promise<Database> {
  const log = createLog({ level: "silent" });
  const opened = await openDatabase({
    databaseUrl: url,
    dataDir: "",
    log,
    maxConnections: 1,
    migrate: "later",
  });
  if (!opened.ok) throw new Error(opened.error.message);
  closing.push(() => opened.value.close());
  return opened.value;
}

async function emptyDatabase(store: "embedded" | "external" = "embedded"): Promise<string> {
  const { url, drop } = await createTestDatabase(store, "empty");
  closing.push(drop);
  return url;
}

async function source(): Promise<TestDatabase> {
  const db = await openTestDatabase();
  closing.push(() => db.drop());
  return db;
}

async function backUp(url: string, name = "backup"): Promise<string> {
  const { sql, serverVersion } = await open(url);
  const into = path.join(folder, name);
  const taken = await takeBackup({ sql, serverVersion, folder: into, nowMs });
  if (!taken.ok) throw new Error(taken.error.message);
  return into;
}

async function restore(url: string, from: string): Promise<string> {
  const { sql, close } = await open(url);
  const restored = await restoreBackup(sql, from);
  await close();
  return restored.ok ? "restored" : `${restored.error.type}: ${restored.error.message}`;
}

function upload(to: RelayAccount, origin: string): Uint8Array {
  return uploadTo(to, [to.devices[0]!.mailbox], { origin, nowMs: systemClock.nowMs() });
}

describe.each(testStores())("a backup restored on $name", ({ name: store }) => {
  it("R45: has a new epoch, what was not acknowledged, and no one-time secrets", async () => {
    const db = await source();
    const publicUrl = "https://relay.example";
    const relay = await startRelay({ databaseUrl: db.url, config: { publicUrl } });
    const bob = await registerAccount(relay, nowMs);
    const phone = await connectDevice(relay, bob.devices[0]!);
    await postUpload(relay, upload(bob, relay.origin));
    phone.ack((await phone.delivery()).seq);
    await phone.request({ type: "mailbox-status" });
    await phone.cut();
    const waiting = upload(bob, relay.origin);
    await postUpload(relay, waiting);
    await createCode(db.sql, systemRng, { uses: 1, expiresMs: nowMs + 1_000_000 }, nowMs);
    await db.sql`insert into rendezvous values (gen_random_uuid(), 0, 'box', 1)`;
    const backup = await backUp(db.url);
    await relay.close();

    const target = await emptyDatabase(store);
    expect(await restore(target, backup)).toBe("restored");
    const again = await startRelay({ databaseUrl: target, config: { publicUrl } });
    closing.push(() => again.close());
    expect(again.epoch).not.toBe(relay.epoch);
    const back = await connectDevice(again, bob.devices[0]!);
    expect(back.ready).toMatchObject({ epoch: again.epoch, queued: 1 });
    expect((await back.delivery()).seq).toBe(2n);
    // A sender that never heard the answer repeats itself: still one copy.
    expect((await postUpload(again, waiting)).body.results).toMatchObject([{ state: "duplicate" }]);
    const { sql } = await open(target);
    for (const table of leftOut) {
      if (table === "schema_migration") continue;
      expect([table, (await sql`select 1 from ${sql(table)}`).length]).toEqual([table, 0]);
    }
    await back.cut();
  });
});

describe("a backup", () => {
  it("holds every table, in private files, under its name only once it is whole", async () => {
    const db = await source();
    const backup = await backUp(db.url);
    const manifest = readManifest(backup);
    if (!manifest.ok) throw new Error(manifest.error.message);
    const all = await db.sql<{ name: string }[]>`
      select relname::text as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
    const kept = manifest.value.tables.map(({ name }) => name);
    expect([...kept, ...leftOut].toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(backup)) {
      expect(statSync(path.join(backup, file)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(folder)).toEqual(["backup"]);
  });

  it("is one moment, whatever is written meanwhile", async () => {
    const db = await source();
    await db.sql`insert into used_id select gen_random_uuid(), 'account' from generate_series(1, 500)`;
    const writer = postgres(db.url, { max: 1, onnotice: () => {} });
    closing.push(() => writer.end());
    const writing = new AbortController();
    // Every account's row has a twin from the first moment on, in a table that is copied earlier.
    const written = (async () => {
      for (let n = 0; !writing.signal.aborted; n++) {
        await writer`
          with drawn as (insert into used_id values (gen_random_uuid(), 'mailbox') returning id)
          insert into access_key (account, generation, key, created_at_ms) select id, ${n}, '', 0 from drawn`;
      }
    })();
    const backup = await backUp(db.url);
    writing.abort();
    await written;
    const target = await emptyDatabase();
    expect(await restore(target, backup)).toBe("restored");
    const { sql } = await open(target);
    const [row] = await sql`
      select (select count(*)::int8 from access_key) as keys,
        (select count(*)::int8 from used_id where kind = 'mailbox') as ids,
        (select count(*)::int8 from used_id where kind = 'account') as before`;
    expect(row?.["keys"]).toBe(row?.["ids"]);
    expect(row?.["before"]).toBe(500);
  });

  it("that is cut off leaves nothing, and says so", async () => {
    const db = await source();
    await db.sql`insert into used_id select gen_random_uuid(), 'account' from generate_series(1, 1000)`;
    const { sql, serverVersion } = await open(db.url);
    const into = path.join(folder, "cut");
    // The lock holds the copy of the last table until its session is ended.
    const held = postgres(db.url, { max: 1, onnotice: () => {} });
    closing.push(() => held.end());
    await held`begin`;
    await held`lock table used_id in access exclusive mode`;
    const taking = takeBackup({ sql, serverVersion, folder: into, nowMs });
    let ended = 0;
    while (ended === 0) {
      ended = (
        await held`
          select pg_terminate_backend(pid) from pg_locks
          where relation = 'used_id'::regclass and not granted`
      ).length;
    }
    expect(await taking).toMatchObject({ ok: false, error: { type: "database" } });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is never put where something is", async () => {
    const db = await source();
    const { sql, serverVersion } = await open(db.url);
    const taken = await takeBackup({ sql, serverVersion, folder, nowMs });
    expect(taken).toMatchObject({ ok: false, error: { type: "folder" } });
  });
});

describe("a restore", () => {
  it("refuses a database with something in it, and changes nothing", async () => {
    const db = await source();
    const backup = await backUp(db.url);
    const other = await source();
    await other.sql`insert into used_id values (gen_random_uuid(), 'account')`;
    const epoch = await other.sql`select epoch from relay_state`;
    await other.database.close();
    expect(await restore(other.url, backup)).toMatch(/^target: .*not empty \(table used_id\)/);
    const { sql } = await open(other.url);
    expect(await sql`select epoch from relay_state`).toEqual(epoch);
  });

  it("refuses a database that a relay is connected to", async () => {
    const backup = await backUp((await source()).url);
    const target = await source();
    await target.sql`select 1`;
    expect(await restore(target.url, backup)).toMatch(/^target: a relay is connected/);
  });

  it("refuses damaged, truncated, missing and foreign files before it touches anything", async () => {
    const db = await source();
    const backup = await backUp(db.url);
    const damage: Readonly<Record<string, (at: string) => void>> = {
      flipped: (at) => {
        const bytes = readFileSync(path.join(at, "relay_state.copy"));
        bytes[40] = (bytes[40] ?? 0) ^ 1;
        writeFileSync(path.join(at, "relay_state.copy"), bytes);
      },
      truncated: (at) => truncateSync(path.join(at, "used_id.copy"), 5),
      missing: (at) => rmSync(path.join(at, "item.copy")),
      "no manifest": (at) => rmSync(path.join(at, "manifest.json")),
      "no JSON": (at) => writeFileSync(path.join(at, "manifest.json"), "{"),
      foreign: (at) => writeFileSync(path.join(at, "manifest.json"), '{"version":2}'),
      injected: (at) => edit(at, (text) => text.replace('"used_id"', '"used_id; drop"')),
      newer: (at) => edit(at, (text) => text.replace(/"schema": \[/, '"schema": ["unknown",')),
      "other rows": (at) => edit(at, (text) => text.replace(/"rows": 1,/, '"rows": 2,')),
      "other content": (at) =>
        edit(at, (text) => text.replace(/"rows": 1,\s*"digest": "\d/, '"rows": 1, "digest": "999')),
    };
    const told: Record<string, string> = {};
    for (const [kind, spoil] of Object.entries(damage)) {
      const spoilt = path.join(folder, kind);
      cpSync(backup, spoilt, { recursive: true });
      spoil(spoilt);
      const target = await emptyDatabase();
      told[kind] = (await restore(target, spoilt)).split(":")[0] ?? "";
      // Whatever was loaded before the fault was found is gone.
      const { sql } = await open(target);
      for (const { name } of await listTables(sql)) {
        expect([kind, name, (await sql`select 1 from ${sql(name)}`).length]).toEqual([
          kind,
          name,
          name === "relay_state" ? 1 : 0,
        ]);
      }
    }
    expect(told).toEqual({
      flipped: "damaged",
      truncated: "damaged",
      missing: "damaged",
      "no manifest": "folder",
      "no JSON": "damaged",
      foreign: "damaged",
      injected: "damaged",
      newer: "schema",
      "other rows": "damaged",
      "other content": "damaged",
    });
  });

  it("brings a backup of an older version to this version's schema", async () => {
    const old = await emptyDatabase();
    const { sql, close } = await open(old);
    expect(await migrateDatabase(sql, 2)).toMatchObject({ ok: true, value: { version: 2 } });
    await sql`insert into used_id values (gen_random_uuid(), 'account')`;
    await close();
    const backup = await backUp(old);
    const target = await emptyDatabase();
    expect(await restore(target, backup)).toBe("restored");
    const { sql: restored } = await open(target);
    expect(await restored`select kind from used_id`).toEqual([{ kind: "account" }]);
    expect(await migrateDatabase(restored)).toMatchObject({ value: { applied: 0 } });
    // Loading it into a newer schema would skip what its migrations do to rows.
    const migrated = await source();
    await migrated.database.close();
    expect(await restore(migrated.url, backup)).toMatch(/^target: .*without tables/);
  });
});

function edit(backup: string, change: (text: string) => string): void {
  const file = path.join(backup, "manifest.json");
  const text = readFileSync(file, "utf8");
  if (change(text) === text || !existsSync(file)) throw new Error("nothing was edited");
  writeFileSync(file, change(text));
}
