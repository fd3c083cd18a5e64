/**
 * Takes a backup while the relay runs: every table from one snapshot, streamed by COPY, with nothing
 * but the driver. `pg_dump` is not used: the embedded Postgres comes without it, and one of another
 * major than the server's refuses.
 *
 * The folder appears under its name only when it is whole and on disk.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  createWriteStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";

import type postgres from "postgres";

import { err, ok, type Result } from "../../../shared/result.ts";
import { softwareVersion } from "../../../shared/wire/version.ts";
import { causeText } from "../../db/database-error.ts";
import { makeFolders } from "../../db/make-folders.ts";
import { compareToShipped, landedMigrations } from "../../db/migrate.ts";
import { readRelayState } from "../../store/relay-state.ts";
import {
  type BackupError,
  type BackupManifest,
  manifestName,
  type TableContent,
  tableFile,
} from "./backup-format.ts";
import {
  digestTable,
  type FoundTable,
  listDays,
  listTables,
  pinTextForm,
  quoted,
} from "./table-content.ts";

/** What to copy, and where to. */
export interface BackupOrder {
  /** Of exactly one connection, so that a snapshot can be held. */
  readonly sql: postgres.Sql;
  readonly serverVersion: string;
  /** Does not exist yet. */
  readonly folder: string;
  readonly nowMs: number;
}

/** Takes it. Errors: `folder`, `schema`, `database`; nothing stays behind then. */
export async function takeBackup(order: BackupOrder): Promise<Result<BackupManifest, BackupError>> {
  const { sql, folder } = order;
  if (existsSync(folder)) {
    return err({ type: "folder", message: `${folder} exists: name a folder that does not` });
  }
  const known = compareToShipped(await landedMigrations(sql));
  if (!known.ok) return err({ type: "schema", message: known.error.message });
  const partial = `${folder}.partial`;
  try {
    rmSync(partial, { recursive: true, force: true });
    makeFolders(partial, 0o700);
    const manifest = await inSnapshot(sql, () => copyAll(order, partial));
    writeDurably(path.join(partial, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
    sync(partial);
    renameSync(partial, folder);
    sync(path.dirname(folder));
    return ok(manifest);
  } catch (cause) {
    rmSync(partial, { recursive: true, force: true });
    return err({ type: "database", message: `the backup failed: ${causeText(cause)}` });
  }
}

/**
 * Runs in one repeatable-read transaction. The driver replaces a lost connection silently, and what is
 * read on the new one belongs to another moment: the transaction's own time tells.
 */
async function inSnapshot<T>(sql: postgres.Sql, run: () => Promise<T>): Promise<T> {
  const began = async (): Promise<string> => {
    const [row] = await sql<{ at: string }[]>`select now()::text as at`;
    return row?.at ?? "";
  };
  await pinTextForm(sql);
  await sql`begin isolation level repeatable read read only`;
  const before = await began();
  const done = await run();
  if ((await began()) !== before) throw new Error("the connection was lost on the way: try again");
  await sql`commit`;
  return done;
}

async function copyAll(order: BackupOrder, partial: string): Promise<BackupManifest> {
  const { sql, nowMs, serverVersion } = order;
  const state = await readRelayState(sql);
  const schema = [...(await landedMigrations(sql))];
  const days = [...(await listDays(sql))];
  const tables: TableContent[] = [];
  for (const table of await listTables(sql)) {
    tables.push(await copyTable(sql, await digestTable(sql, table), partial));
  }
  return {
    format: "pixie-relay-backup",
    version: 1,
    takenMs: nowMs,
    software: softwareVersion,
    server: serverVersion,
    ...state,
    schema,
    days,
    tables,
  };
}

async function copyTable(
  sql: postgres.Sql,
  table: FoundTable,
  partial: string,
): Promise<TableContent> {
  const hash = createHash("sha256");
  let bytes = 0;
  // A partitioned table has no rows of its own to copy: hence the query.
  const query = `select ${quoted(...table.columns)} from ${quoted(table.name)}`;
  const rows = await sql.unsafe(`copy (${query}) to stdout (format binary)`).readable();
  await pipeline(
    rows,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(tableFile(partial, table.name), { mode: 0o600, flags: "wx" }),
  );
  // postgres 3.4.9 leaves its socket paused when the last rows fill the stream's buffer, because a stream
  // that has ended never reads again, and the next statement waits for ever: reading resumes it.
  // https://github.com/porsager/postgres/issues/499
  // oxlint-disable-next-line no-underscore-dangle -- there is no other way to its socket
  rows._read(0);
  sync(tableFile(partial, table.name));
  return { ...table, columns: [...table.columns], bytes, sha256: hash.digest("hex") };
}

function writeDurably(file: string, content: string): void {
  writeFileSync(file, content, { mode: 0o600, flag: "wx" });
  sync(file);
}

function sync(file: string): void {
  const handle = openSync(file, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
