/**
 * Loads a backup into an empty database and makes sure that what arrived is what was taken: the schema
 * that the backup was taken from first, then its rows in one transaction, compared table by table.
 *
 * Later migrations run afterwards, as they would have run on the original.
 */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

import type postgres from "postgres";

import { err, ok, type Result } from "../../../shared/result.ts";
import { causeText } from "../../db/database-error.ts";
import { compareToShipped, landedMigrations, migrateDatabase } from "../../db/migrate.ts";
import { ensureDayPartitions } from "../../db/partitions.ts";
import { type BackupError, type BackupManifest, tableFile } from "./backup-format.ts";
import { digestTable, listTables, pinTextForm, quoted } from "./table-content.ts";

/** A backup and the place for it. */
export interface LoadOrder {
  /** Of exactly one connection. */
  readonly sql: postgres.Sql;
  readonly folder: string;
  readonly manifest: BackupManifest;
  /** A restored relay is another one: devices must not take its numbers for the lost ones. */
  readonly newEpoch: boolean;
}

/** Loads it, at the schema of the backup. Errors: `schema`, `target`, `damaged`, `database`. */
export async function loadBackup(order: LoadOrder): Promise<Result<undefined, BackupError>> {
  const { sql, manifest } = order;
  try {
    const ready = await prepareTarget(order);
    if (!ready.ok) return ready;
    for (const day of manifest.days) await ensureDayPartitions(sql, day, day);
    await pinTextForm(sql);
    await sql`begin`;
    const loaded = await loadTables(order);
    await (loaded.ok ? sql`commit` : sql`rollback`);
    return loaded;
  } catch (cause) {
    return err({ type: "database", message: `the backup was not loaded: ${causeText(cause)}` });
  }
}

/** An empty database at the backup's schema. Errors: `schema`, `target`. */
async function prepareTarget({
  sql,
  manifest,
}: LoadOrder): Promise<Result<undefined, BackupError>> {
  const known = compareToShipped(manifest.schema);
  if (!known.ok) {
    return err({
      type: "schema",
      message: `the backup was taken from a newer relay (${manifest.software}) or another program: restore it with that version`,
    });
  }
  const filled = await filledTable(sql);
  if (filled !== undefined) {
    return err({
      type: "target",
      message: `the database is not empty (table ${filled}): restore into an empty one; nothing was changed`,
    });
  }
  const landed = await landedMigrations(sql);
  if (landed.length > manifest.schema.length) {
    return err({
      type: "target",
      message: `the database is empty and already at schema ${landed.length}, the backup at ${manifest.schema.length}: restore into a database without tables; nothing was changed`,
    });
  }
  const migrated = await migrateDatabase(sql, manifest.schema.length);
  return migrated.ok ? ok(undefined) : err({ type: "schema", message: migrated.error.message });
}

/** A table with rows; `relay_state` has its one from the first migration on. */
async function filledTable(sql: postgres.Sql): Promise<string | undefined> {
  for (const { name } of await listTables(sql)) {
    if (name === "relay_state") continue;
    const [row] = await sql`select 1 from ${sql(name)} limit 1`;
    if (row !== undefined) return name;
  }
  return undefined;
}

async function loadTables({
  sql,
  folder,
  manifest,
  newEpoch,
}: LoadOrder): Promise<Result<undefined, BackupError>> {
  await sql`delete from relay_state`;
  for (const table of manifest.tables) {
    const columns = quoted(...table.columns);
    const rows = await sql
      .unsafe(`copy ${quoted(table.name)} (${columns}) from stdin (format binary)`)
      .writable();
    await pipeline(createReadStream(tableFile(folder, table.name)), rows);
    const { rows: count, digest } = await digestTable(sql, table);
    if (count !== table.rows || digest !== table.digest) {
      return err({
        type: "damaged",
        message: `table ${table.name} arrived with ${count} rows, expected ${table.rows}${count === table.rows ? " with other content" : ""}: nothing was kept`,
      });
    }
  }
  if (newEpoch) await sql`update relay_state set epoch = gen_random_uuid()`;
  return ok(undefined);
}
