/**
 * A database to try things on: an embedded cluster of its own in a temporary folder, gone afterwards.
 * Verifying a backup and rehearsing an upgrade never touch the one that is in use.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type postgres from "postgres";

import { err, type Result } from "../../../shared/result.ts";
import { openDatabase } from "../../db/client.ts";
import type { Logger } from "../../log.ts";
import type { BackupError } from "./backup-format.ts";

/** Runs with an empty scratch database of one connection. Errors: `database`, or what `run` says. */
export async function onScratch<T>(
  dataDir: string,
  log: Logger,
  run: (sql: postgres.Sql) => Promise<Result<T, BackupError>>,
): Promise<Result<T, BackupError>> {
  const opened = await openDatabase({ dataDir, log, maxConnections: 1, migrate: "later" });
  if (!opened.ok) {
    const message = `a scratch database is needed: ${opened.error.message}`;
    return err({ type: "database", message });
  }
  try {
    return await run(opened.value.sql);
  } finally {
    await opened.value.close();
  }
}

/** Runs with a temporary folder for a scratch database, and removes it. */
export async function inScratchFolder<T>(run: (dataDir: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-scratch-"));
  try {
    // As root the server is another user's, who has to pass through.
    chmodSync(folder, 0o711);
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
