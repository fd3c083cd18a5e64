/**
 * `pixie relay restore`: a backup becomes this relay's database. Refused where there is anything
 * already or a relay is at work; afterwards the relay has a new epoch and this version's schema.
 */
import type postgres from "postgres";

import { err, ok, type Result } from "../../../shared/result.ts";
import { migrateDatabase } from "../../db/migrate.ts";
import { readRelayState } from "../../store/relay-state.ts";
import { relayConnected } from "../relay-connected.ts";
import { type BackupError, checkFiles, readManifest } from "./backup-format.ts";
import { loadBackup } from "./load-backup.ts";

/** What is there now. */
export interface Restored {
  readonly takenMs: number;
  readonly rows: number;
  readonly formerEpoch: string;
  readonly epoch: string;
  readonly schema: number;
}

/** Restores. `sql` has exactly one connection. Errors: all of `BackupError`. */
export async function restoreBackup(
  sql: postgres.Sql,
  folder: string,
): Promise<Result<Restored, BackupError>> {
  const manifest = readManifest(folder);
  if (!manifest.ok) return manifest;
  const whole = await checkFiles(folder, manifest.value);
  if (!whole.ok) return whole;
  if (await relayConnected(sql)) {
    return err({
      type: "target",
      message: "a relay is connected to that database: stop it, or restore into another one",
    });
  }
  const loaded = await loadBackup({ sql, folder, manifest: manifest.value, newEpoch: true });
  if (!loaded.ok) return loaded;
  const migrated = await migrateDatabase(sql);
  if (!migrated.ok) return err({ type: "schema", message: migrated.error.message });
  const { epoch } = await readRelayState(sql);
  return ok({
    takenMs: manifest.value.takenMs,
    rows: manifest.value.tables.reduce((sum, table) => sum + table.rows, 0),
    formerEpoch: manifest.value.epoch,
    epoch,
    schema: migrated.value.version,
  });
}
