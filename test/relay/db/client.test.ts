/** What openDatabase promises, on every store: migrations, refusals, numbers, and errors in words. */
import { afterEach, describe, expect, it } from "vitest";

import { openDatabase, type Database } from "../../../src/relay/db/client.ts";
import { createLog } from "../../../src/relay/log.ts";
import {
  createTestDatabase,
  openTestDatabase,
  testStores,
  type TestDatabase,
} from "../../support/postgres.ts";

const log = createLog({ level: "silent" });

let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});

describe.each(testStores())("openDatabase on $name", ({ name, open }) => {
  it("O9: migrates once when several relays start on an empty database together", async () => {
    const empty = await createTestDatabase(name, "empty");
    const relays = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ databaseUrl: empty.url, dataDir: "", log })),
    );
    const opened = relays.flatMap((relay) => (relay.ok ? [relay.value] : []));
    const epochs = await Promise.all(opened.map(({ sql }) => sql`select epoch from relay_state`));
    await Promise.all(opened.map((relay) => relay.close()));
    await empty.drop();
    expect(opened.map(({ schema }) => schema.applied).toSorted((a, b) => a - b)).toEqual([
      0, 0, 0, 3,
    ]);
    expect(new Set(epochs.map((rows) => JSON.stringify(rows))).size).toBe(1);
  });

  it("refuses an empty schema when it may not migrate, and says what to run", async () => {
    const empty = await createTestDatabase(name, "empty");
    const refused = await openDatabase({
      databaseUrl: empty.url,
      dataDir: "",
      log,
      migrate: false,
    });
    await empty.drop();
    expect(refused).toMatchObject({ ok: false, error: { type: "schema-outdated" } });
    expect(refused.ok ? "" : refused.error.message).toContain("pixie relay migrate");
  });

  it.each([
    [
      "of a newer version",
      "insert into schema_migration (hash, created_at) values ('future', 9e15)",
    ],
    ["that was edited", "update schema_migration set hash = 'edited' where id = 1"],
    ["that skipped a step", "delete from schema_migration where id = 1"],
  ])("refuses a schema %s", async (_, change) => {
    db = await open();
    await db.sql.unsafe(change);
    for (const migrate of [true, false]) {
      const refused = await openDatabase({ databaseUrl: db.url, dataDir: "", log, migrate });
      expect(refused).toMatchObject({ ok: false, error: { type: "schema-newer" } });
    }
  });

  it("reads 64-bit integers as numbers, and throws rather than round", async () => {
    db = await open();
    const [row] =
      await db.sql`select 9007199254740991::int8 as big, ${9_007_199_254_740_991}::int8 as back`;
    expect(row).toEqual({ big: 9_007_199_254_740_991, back: 9_007_199_254_740_991 });
    await expect(db.sql`select 9007199254740992::int8`).rejects.toThrow(/does not fit/);
  });

  it("plans each execution anew on every connection", async () => {
    db = await open();
    const [row] = await db.sql<
      { mode: string }[]
    >`select current_setting('plan_cache_mode') as mode`;
    expect(row?.mode).toBe("force_custom_plan");
  });

  it("commits durably even where the server is set to forget", async () => {
    db = await open();
    await db.sql.unsafe(`alter database ${db.sql.options.database} set synchronous_commit = off`);
    const again = await openDatabase({ databaseUrl: db.url, dataDir: "", log });
    if (!again.ok) throw new Error(again.error.message);
    const [row] = await again.value.sql<
      { is: string }[]
    >`select current_setting('synchronous_commit') as is`;
    await again.value.close();
    expect(row?.is).toBe("on");
  });

  it("rejects a statement whose commit fails (driver before 3.4.9 reported success)", async () => {
    db = await open();
    await db.sql`create table once (n int unique deferrable initially deferred)`;
    await expect(db.sql`insert into once values (1), (1)`).rejects.toMatchObject({ code: "23505" });
  });

  it("survives backends that die under load: statements reject, the pool goes on", async () => {
    db = await open();
    const { sql } = db;
    let rejected = 0;
    const load = Array.from({ length: 300 }, (_, n) =>
      sql`insert into used_id (id, kind) values (gen_random_uuid(), ${`load ${n}`})`.then(
        () => 1,
        () => {
          rejected += 1;
          return 0;
        },
      ),
    );
    const killer = await openTestDatabase(name);
    await killer.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${sql.options.database} and pid <> pg_backend_pid()`;
    const done = (await Promise.all(load)).reduce<number>((sum, each) => sum + each, 0);
    await killer.drop();
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from used_id`;
    expect(done + rejected).toBe(300);
    // A statement may have committed although its answer was lost; none may be missing.
    expect(row?.count).toBeGreaterThanOrEqual(done);
  });
});

describe("openDatabase", () => {
  it("says which setting to look at when nothing listens, without the password", async () => {
    const url = "postgres://relay:hunter2@127.0.0.1:1/pixie";
    const refused = await openDatabase({ databaseUrl: url, dataDir: "", log });
    expect(refused).toMatchObject({ ok: false, error: { type: "unreachable" } });
    const message = refused.ok ? "" : refused.error.message;
    expect(message).toContain("DATABASE_URL");
    expect(message).toContain("ECONNREFUSED");
    expect(message).not.toContain("hunter2");
  });

  it("says how to write a URL that cannot be read, without its password", async () => {
    const url = "postgres://relay:hunter2#1@127.0.0.1:1/pixie";
    const refused = await openDatabase({ databaseUrl: url, dataDir: "", log });
    expect(refused).toMatchObject({ ok: false, error: { type: "unreachable" } });
    expect(refused.ok ? "" : refused.error.message).toContain("# as %23");
    expect(JSON.stringify(refused)).not.toContain("hunter2");
  });

  it("tells a database that does not exist from a server that does not run", async () => {
    const { url, drop } = await createTestDatabase("embedded", "empty");
    await drop();
    const refused = await openDatabase({ databaseUrl: url, dataDir: "", log });
    expect(refused.ok ? "" : refused.error.message).toMatch(/database "test_\w+" does not exist/);
  });

  it("closes once, however often it is asked", async () => {
    const opened: TestDatabase = await openTestDatabase();
    const { database }: { database: Database } = opened;
    await Promise.all([database.close(), database.close(), database[Symbol.asyncDispose]()]);
    await expect(database.sql`select 1`).rejects.toThrow(/CONNECTION_ENDED/);
    await opened.drop();
  });
});
