/**
 * Brings the schema up to what this version of the relay expects, once, whoever starts first.
 *
 * drizzle's `migrate()` takes no lock (O9), so an advisory lock is held on the same connection
 * around it. That connection is the only place with transactions. Before anything runs, what the
 * database has must be a prefix of what this version ships: a newer or a foreign schema is refused
 * (no downgrade, no skip).
 */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import type postgres from "postgres";

import { err, ok, type Result } from "../../shared/result.ts";
import { causeText, type DatabaseError } from "./database-error.ts";

/** Where generated SQL lies, from src/ and from dist/ alike. */
export const migrationsFolder = fileURLToPath(
  new URL("../../../migrations/relay", import.meta.url),
);

const migrationsTable = {
  migrationsSchema: "public",
  migrationsTable: "schema_migration",
} as const;

/** What was done: migrations run just now, and the schema version reached. */
export interface MigrationOutcome {
  readonly applied: number;
  readonly version: number;
}

/** How far a schema is behind this version. */
export interface SchemaGap {
  readonly missing: number;
  /** Of this version: how many migrations it ships. */
  readonly version: number;
}

interface ShippedMigration {
  readonly tag: string;
  readonly hash: string;
}

/**
 * Migrates under a held advisory lock, as far as this version goes or only through that many
 * migrations (a backup is loaded into the schema that it was taken from). `sql` must have exactly one
 * connection, and is left open. Errors: `schema-newer`, `migration`.
 */
export async function migrateDatabase(
  sql: postgres.Sql,
  through?: number,
): Promise<Result<MigrationOutcome, DatabaseError>> {
  try {
    // Whoever comes second waits for the first to finish, at most this long.
    await sql`set lock_timeout = '60s'`;
    await sql`select pg_advisory_lock(7470, 1)`;
    try {
      return await migrateLocked(sql, through);
    } finally {
      await sql`select pg_advisory_unlock(7470, 1)`;
    }
  } catch (cause) {
    return err({ type: "migration", message: `migration failed: ${causeText(cause)}` });
  }
}

/**
 * Checks that the schema is exactly the shipped one, without changing it.
 * Errors: `schema-outdated`, `schema-newer`, `migration`.
 */
export async function checkSchema(
  sql: postgres.Sql,
): Promise<Result<MigrationOutcome, DatabaseError>> {
  try {
    const gap = await schemaGap(sql);
    if (!gap.ok) return gap;
    if (gap.value.missing === 0) return ok({ applied: 0, version: gap.value.version });
    return err({
      type: "schema-outdated",
      message: `the database lacks ${gap.value.missing} of ${gap.value.version} migrations: run \`pixie relay migrate\` with a role that may change the schema`,
    });
  } catch (cause) {
    return err({
      type: "migration",
      message: `cannot read the schema version: ${causeText(cause)}`,
    });
  }
}

/** Hashes of the migrations that the database has, in order; none when it was never migrated. */
export async function landedMigrations(sql: postgres.Sql): Promise<readonly string[]> {
  const [table] = await sql<{ found: boolean }[]>`
    select to_regclass('public.schema_migration') is not null as found`;
  if (table?.found !== true) return [];
  const rows = await sql<{ hash: string }[]>`
    select hash from public.schema_migration order by created_at`;
  return rows.map(({ hash }) => hash);
}

async function migrateLocked(
  sql: postgres.Sql,
  through: number | undefined,
): Promise<Result<MigrationOutcome, DatabaseError>> {
  const gap = await schemaGap(sql);
  if (!gap.ok) return gap;
  const { missing, version } = gap.value;
  const target = Math.min(through ?? version, version);
  const applied = Math.max(0, target - (version - missing));
  if (applied === 0) return ok({ applied, version: version - missing });
  if (target === version) await migrate(drizzle(sql), { migrationsFolder, ...migrationsTable });
  else await migrateFirst(sql, target);
  return ok({ applied, version: target });
}

/** drizzle runs all that a folder holds: one with the first few only. */
async function migrateFirst(sql: postgres.Sql, count: number): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-migrations-"));
  try {
    const { entries, ...journal } = readJournal();
    const first = entries.slice(0, count);
    mkdirSync(path.join(folder, "meta"));
    writeFileSync(
      path.join(folder, "meta", "_journal.json"),
      JSON.stringify({ ...journal, entries: first }),
    );
    for (const { tag } of first) {
      copyFileSync(path.join(migrationsFolder, `${tag}.sql`), path.join(folder, `${tag}.sql`));
    }
    await migrate(drizzle(sql), { migrationsFolder: folder, ...migrationsTable });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function schemaGap(sql: postgres.Sql): Promise<Result<SchemaGap, DatabaseError>> {
  return compareToShipped(await landedMigrations(sql));
}

/** What a database has must be the beginning of what this version ships. Errors: `schema-newer`. */
export function compareToShipped(landed: readonly string[]): Result<SchemaGap, DatabaseError> {
  const shipped = shippedMigrations();
  const strange = landed.findIndex((hash, index) => shipped[index]?.hash !== hash);
  if (strange >= 0) {
    const expected = shipped[strange]?.tag;
    return err({
      type: "schema-newer",
      message:
        expected === undefined
          ? `the database has ${landed.length} migrations and this version knows ${shipped.length}: it was used by a newer relay; start that version, or restore a backup made by this one`
          : `migration ${strange} of the database is not ${expected}: it belongs to another program or to an edited release; use another database`,
    });
  }
  return ok({ missing: shipped.length - landed.length, version: shipped.length });
}

function shippedMigrations(): readonly ShippedMigration[] {
  return readJournal().entries.map(({ tag }) => ({
    tag,
    // The same hash that drizzle's migrator records.
    hash: createHash("sha256")
      .update(readFileSync(`${migrationsFolder}/${tag}.sql`, "utf8"))
      .digest("hex"),
  }));
}

interface Journal {
  readonly entries: readonly { readonly tag: string }[];
}

function readJournal(): Journal {
  const journal: unknown = JSON.parse(
    readFileSync(`${migrationsFolder}/meta/_journal.json`, "utf8"),
  );
  if (typeof journal !== "object" || journal === null || !("entries" in journal)) {
    throw new Error("migrations/relay/meta/_journal.json has no entries");
  }
  if (!Array.isArray(journal.entries)) throw new Error("migration journal entries are not a list");
  const entries = journal.entries.map((entry: unknown) => {
    if (
      typeof entry === "object" &&
      entry !== null &&
      "tag" in entry &&
      typeof entry.tag === "string"
    ) {
      return { ...entry, tag: entry.tag };
    }
    throw new Error("a migration journal entry has no tag");
  });
  return { ...journal, entries };
}
