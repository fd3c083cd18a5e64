/** Backup and restore between databases, with a relay and a device on both ends. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readManifest } from "../../../src/relay/admin/backup/backup-format.ts";
import { leftOut } from "../../../src/relay/admin/backup/table-content.ts";
import { takeBackup } from "../../../src/relay/admin/backup/take-backup.ts";
import { createCode } from "../../../src/relay/store/registration-codes.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { BackupWorld } from "../../support/backups.ts";
import { testStores } from "../../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "../../support/relay.ts";

const nowMs = systemClock.nowMs();
const world = new BackupWorld();
beforeEach(() => world.begin());
afterEach(() => world.end());

function upload(to: RelayAccount, origin: string): Uint8Array {
  return uploadTo(to, [to.devices[0]!.mailbox], { origin, nowMs: systemClock.nowMs() });
}

describe.each(testStores())("a backup restored on $name", ({ name: store }) => {
  it("R45: has a new epoch, what was not acknowledged, and no one-time secrets", async () => {
    const db = await world.source();
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
    const backup = await world.backUp(db.url);
    await relay.close();

    const target = await world.emptyDatabase(store);
    expect(await world.restore(target, backup)).toBe("restored");
    const again = await startRelay({ databaseUrl: target, config: { publicUrl } });
    world.closing.push(() => again.close());
    expect(again.epoch).not.toBe(relay.epoch);
    const back = await connectDevice(again, bob.devices[0]!);
    expect(back.ready).toMatchObject({ epoch: again.epoch, queued: 1 });
    expect((await back.delivery()).seq).toBe(2n);
    // A sender that never heard the answer repeats itself: still one copy.
    expect((await postUpload(again, waiting)).body.results).toMatchObject([{ state: "duplicate" }]);
    const { sql } = await world.open(target);
    for (const table of leftOut) {
      if (table === "schema_migration") continue;
      expect([table, (await sql`select 1 from ${sql(table)}`).length]).toEqual([table, 0]);
    }
    await back.cut();
  });
});

describe("a backup", () => {
  it("holds every table, in private files, under its name only once it is whole", async () => {
    const db = await world.source();
    const backup = await world.backUp(db.url);
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
    expect(readdirSync(world.folder)).toEqual(["backup"]);
  });

  it("is one moment, whatever is written meanwhile", async () => {
    const db = await world.source();
    await db.sql`insert into used_id select gen_random_uuid(), 'account' from generate_series(1, 500)`;
    const writer = postgres(db.url, { max: 1, onnotice: () => {} });
    world.closing.push(() => writer.end());
    const writing = new AbortController();
    // Every account's row has a twin from the first moment on, in a table that is copied earlier.
    const written = (async () => {
      for (let n = 0; !writing.signal.aborted; n++) {
        await writer`
          with drawn as (insert into used_id values (gen_random_uuid(), 'mailbox') returning id)
          insert into access_key (account, generation, key, created_at_ms) select id, ${n}, '', 0 from drawn`;
      }
    })();
    const backup = await world.backUp(db.url);
    writing.abort();
    await written;
    const target = await world.emptyDatabase();
    expect(await world.restore(target, backup)).toBe("restored");
    const { sql } = await world.open(target);
    const [row] = await sql`
      select (select count(*)::int8 from access_key) as keys,
        (select count(*)::int8 from used_id where kind = 'mailbox') as ids,
        (select count(*)::int8 from used_id where kind = 'account') as before`;
    expect(row?.["keys"]).toBe(row?.["ids"]);
    expect(row?.["before"]).toBe(500);
  });

  it("that is cut off leaves nothing, and says so", async () => {
    const db = await world.source();
    await db.sql`insert into used_id select gen_random_uuid(), 'account' from generate_series(1, 1000)`;
    const { sql, serverVersion } = await world.open(db.url);
    const into = path.join(world.folder, "cut");
    // The lock holds the copy of the last table until its session is ended.
    const held = postgres(db.url, { max: 1, onnotice: () => {} });
    world.closing.push(() => held.end());
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
    expect(readdirSync(world.folder)).toEqual([]);
  });

  it("is never put where something is", async () => {
    const db = await world.source();
    const { sql, serverVersion } = await world.open(db.url);
    const taken = await takeBackup({ sql, serverVersion, folder: world.folder, nowMs });
    expect(taken).toMatchObject({ ok: false, error: { type: "folder" } });
  });
});
