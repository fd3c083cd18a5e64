/** What a restore refuses, and a backup of an older version. */
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { listTables } from "../../../src/relay/admin/backup/table-content.ts";
import { migrateDatabase } from "../../../src/relay/db/migrate.ts";
import { BackupWorld } from "../../support/backups.ts";

const world = new BackupWorld();
beforeEach(() => world.begin());
afterEach(() => world.end());

describe("a restore", () => {
  it("refuses a database with something in it, and changes nothing", async () => {
    const db = await world.source();
    const backup = await world.backUp(db.url);
    const other = await world.source();
    await other.sql`insert into used_id values (gen_random_uuid(), 'account')`;
    const epoch = await other.sql`select epoch from relay_state`;
    await other.database.close();
    expect(await world.restore(other.url, backup)).toMatch(
      /^target: .*not empty \(table used_id\)/,
    );
    const { sql } = await world.open(other.url);
    expect(await sql`select epoch from relay_state`).toEqual(epoch);
  });

  it("refuses a database that a relay is connected to", async () => {
    const backup = await world.backUp((await world.source()).url);
    const target = await world.source();
    await target.sql`select 1`;
    expect(await world.restore(target.url, backup)).toMatch(/^target: a relay is connected/);
  });

  it("refuses damaged, truncated, missing and foreign files before it touches anything", async () => {
    const db = await world.source();
    const backup = await world.backUp(db.url);
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
      const spoilt = path.join(world.folder, kind);
      cpSync(backup, spoilt, { recursive: true });
      spoil(spoilt);
      const target = await world.emptyDatabase();
      told[kind] = (await world.restore(target, spoilt)).split(":")[0] ?? "";
      // Whatever was loaded before the fault was found is gone.
      const { sql } = await world.open(target);
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
    const old = await world.emptyDatabase();
    const { sql, close } = await world.open(old);
    expect(await migrateDatabase(sql, 2)).toMatchObject({ ok: true, value: { version: 2 } });
    await sql`insert into used_id values (gen_random_uuid(), 'account')`;
    await close();
    const backup = await world.backUp(old);
    const target = await world.emptyDatabase();
    expect(await world.restore(target, backup)).toBe("restored");
    const { sql: restored } = await world.open(target);
    expect(await restored`select kind from used_id`).toEqual([{ kind: "account" }]);
    expect(await migrateDatabase(restored)).toMatchObject({ value: { applied: 0 } });
    // Loading it into a newer schema would skip what its migrations do to rows.
    const migrated = await world.source();
    await migrated.database.close();
    expect(await world.restore(migrated.url, backup)).toMatch(/^target: .*without tables/);
  });
});

function edit(backup: string, change: (text: string) => string): void {
  const file = path.join(backup, "manifest.json");
  const text = readFileSync(file, "utf8");
  if (change(text) === text) throw new Error("nothing was edited");
  writeFileSync(file, change(text));
}
