/**
 * `pixie relay rehearse-upgrade`: what this version would do to a database, done to a clone of it. The
 * source is only read, in one snapshot, and may be in use by an older relay meanwhile.
 *
 * Clone → migrate → compare → start a relay on the clone. How one is started is a port: the command
 * that calls this knows the whole relay, an operator's room does not.
 */
import path from "node:path";

import type postgres from "postgres";

import { err, ok, type Result } from "../../../shared/result.ts";
import { migrateDatabase } from "../../db/migrate.ts";
import type { Logger } from "../../log.ts";
import type { BackupError, BackupManifest } from "./backup-format.ts";
import { loadBackup } from "./load-backup.ts";
import { inScratchFolder, onScratch } from "./scratch-database.ts";
import { digestTable, listTables } from "./table-content.ts";
import { takeBackup } from "./take-backup.ts";

/** What a rehearsal needs. */
export interface RehearsalPorts {
  /** Source, of exactly one connection. */
  readonly sql: postgres.Sql;
  readonly serverVersion: string;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Starts this version on a data folder, asks whether it is ready, and stops it. */
  readonly startRelay: (
    dataDir: string,
  ) => Promise<Result<undefined, { readonly message: string }>>;
}

/** How it went. */
export interface Rehearsal {
  readonly rows: number;
  readonly fromSchema: number;
  readonly toSchema: number;
  /** How long the migrations took on this machine, in which the real relay would be away. */
  readonly migrationMs: number;
  /** Tables whose number of rows the migrations changed: `name: before → after`. */
  readonly changed: readonly string[];
}

/** Rehearses. Errors: all of `BackupError`; `database` when the relay does not start on the result. */
export async function rehearseUpgrade(
  ports: RehearsalPorts,
): Promise<Result<Rehearsal, BackupError>> {
  const { sql, serverVersion, log, nowMs } = ports;
  return inScratchFolder(async (scratch) => {
    const folder = path.join(scratch, "backup");
    const taken = await takeBackup({ sql, serverVersion, folder, nowMs: nowMs() });
    if (!taken.ok) return taken;
    const manifest = taken.value;
    const dataDir = path.join(scratch, "relay");
    const migrated = await onScratch(dataDir, log, async (clone) => {
      const loaded = await loadBackup({ sql: clone, folder, manifest, newEpoch: false });
      return loaded.ok ? migrateClone(clone, manifest, nowMs) : loaded;
    });
    if (!migrated.ok) return migrated;
    const started = await ports.startRelay(dataDir);
    return started.ok
      ? migrated
      : err({
          type: "database",
          message: `the relay does not start on the migrated clone: ${started.error.message}`,
        });
  });
}

async function migrateClone(
  clone: postgres.Sql,
  { schema, tables }: BackupManifest,
  nowMs: () => number,
): Promise<Result<Rehearsal, BackupError>> {
  const began = nowMs();
  const migrated = await migrateDatabase(clone);
  if (!migrated.ok) return err({ type: "schema", message: migrated.error.message });
  const migrationMs = nowMs() - began;
  const left = await listTables(clone);
  const changed: string[] = [];
  for (const { name, rows } of tables) {
    const table = left.find((each) => each.name === name);
    const after = table === undefined ? "gone" : (await digestTable(clone, table)).rows;
    if (after !== rows) changed.push(`${name}: ${rows} → ${after}`);
  }
  return ok({
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    fromSchema: schema.length,
    toSchema: migrated.value.version,
    migrationMs,
    changed,
  });
}
