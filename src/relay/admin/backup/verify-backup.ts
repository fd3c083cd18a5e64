/**
 * `pixie relay verify`: a backup that was never restored is a hope. This one compares every file with
 * its hash, loads all of it into a scratch database, compares every table with what was counted when
 * it was taken, and brings it to this version's schema.
 */
import { err, ok, type Result } from "../../../shared/result.ts";
import { migrateDatabase } from "../../db/migrate.ts";
import type { Logger } from "../../log.ts";
import { type BackupError, checkFiles, readManifest } from "./backup-format.ts";
import { loadBackup } from "./load-backup.ts";
import { inScratchFolder, onScratch } from "./scratch-database.ts";

/** A backup that was loaded and compared. */
export interface Verified {
  readonly takenMs: number;
  readonly tables: number;
  readonly rows: number;
  /** This version's schema, which it was brought to. */
  readonly schema: number;
}

/** Verifies. Errors: `folder`, `damaged`, `schema`, `database`. */
export async function verifyBackup(
  folder: string,
  log: Logger,
): Promise<Result<Verified, BackupError>> {
  const manifest = readManifest(folder);
  if (!manifest.ok) return manifest;
  const whole = await checkFiles(folder, manifest.value);
  if (!whole.ok) return whole;
  const { takenMs, tables } = manifest.value;
  return inScratchFolder((dataDir) =>
    onScratch(dataDir, log, async (sql) => {
      const loaded = await loadBackup({ sql, folder, manifest: manifest.value, newEpoch: false });
      if (!loaded.ok) return loaded;
      const migrated = await migrateDatabase(sql);
      if (!migrated.ok) return err({ type: "schema", message: migrated.error.message });
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      return ok({ takenMs, tables: tables.length, rows, schema: migrated.value.version });
    }),
  );
}
