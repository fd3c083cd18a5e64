/** The two roles that are shipped: one may change the schema, the other runs the relay and may not. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";
import postgres from "postgres";

import { openDatabase } from "../../../src/relay/db/client.ts";
import { migrationsFolder } from "../../../src/relay/db/migrate.ts";
import { dropPartitionsBefore, ensureDayPartitions } from "../../../src/relay/db/partitions.ts";
import { createLog } from "../../../src/relay/log.ts";
import { createTestDatabase } from "../../support/postgres.ts";

const log = createLog({ level: "silent" });

function as(role: string, url: string): string {
  const other = new URL(url);
  other.username = role;
  return other.href;
}

it("relay_ddl migrates, relay_app runs, makes and drops partitions, and changes nothing else", async () => {
  const { url, drop } = await createTestDatabase("embedded", "empty");
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  await admin.unsafe(readFileSync(path.join(migrationsFolder, "roles.sql"), "utf8"));
  await admin.end();

  const migrated = await openDatabase({ databaseUrl: as("relay_ddl", url), dataDir: "", log });
  if (!migrated.ok) throw new Error(migrated.error.message);
  await migrated.value.close();

  const app = await openDatabase({
    databaseUrl: as("relay_app", url),
    dataDir: "",
    log,
    migrate: false,
  });
  if (!app.ok) throw new Error(app.error.message);
  const { sql } = app.value;
  await ensureDayPartitions(sql, 20_000, 20_000);
  await sql`
    insert into item (lane, day, mailbox, seq, slot, bucket)
    values (0, 20000, gen_random_uuid(), 1, gen_random_uuid(), 0)`;
  expect(await dropPartitionsBefore(sql, 20_001)).toBe(2);
  await expect(sql`create table mine (n int)`).rejects.toMatchObject({ code: "42501" });
  await expect(sql`drop table item`).rejects.toMatchObject({ code: "42501" });
  await app.value.close();
  await drop();
});
