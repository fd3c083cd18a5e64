/**
 * Brings a store to this version's schema. The SQL lies beside the program in `migrations/device`;
 * a store that a newer version has migrated is refused before anything changes.
 *
 * The caller holds the data folder's lock, so two processes never migrate at once.
 */
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { err, ok, type Result } from "../../shared/result.ts";
import type { StoreError } from "./store-error.ts";

// src/device/store and dist/device/store lie equally deep below the package's root.
const migrationsFolder = fileURLToPath(new URL("../../../migrations/device", import.meta.url));

/** Applies what is missing. Errors: `future-schema` when the store knows a migration that we do not. */
export function migrateStore(db: BetterSQLite3Database): Result<undefined, StoreError> {
  const known = new Set(readMigrationFiles({ migrationsFolder }).map((file) => file.hash));
  const foreign = appliedHashes(db).filter((hash) => !known.has(hash)).length;
  if (foreign > 0) {
    return err({
      type: "future-schema",
      message: `the store was written by a newer pixie (${foreign} migrations that this version lacks): update pixie`,
    });
  }
  migrate(db, { migrationsFolder });
  return ok(undefined);
}

function appliedHashes(db: BetterSQLite3Database): readonly string[] {
  const table = db.get<{ name: string } | undefined>(
    sql`select name from sqlite_master where name = '__drizzle_migrations'`,
  );
  if (table === undefined) return [];
  return db
    .all<{ hash: string }>(sql`select hash from __drizzle_migrations`)
    .map((row) => row.hash);
}
