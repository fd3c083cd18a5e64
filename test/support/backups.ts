/** Databases to back up and to restore into, and a folder for backups; all gone after a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { restoreBackup } from "../../src/relay/admin/backup/restore-backup.ts";
import { takeBackup } from "../../src/relay/admin/backup/take-backup.ts";
import { type Database, openDatabase } from "../../src/relay/db/client.ts";
import { createLog } from "../../src/relay/log.ts";
import { systemClock } from "../../src/shared/clock.ts";
import type { StoreName } from "./clusters.ts";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "./postgres.ts";

/** One test's world. */
export class BackupWorld {
  folder = "";
  /** What a test opened, ended in reverse. */
  readonly closing: (() => Promise<unknown>)[] = [];

  begin(): void {
    this.folder = mkdtempSync(path.join(tmpdir(), "pixie-backup-"));
  }

  async end(): Promise<void> {
    for (const close of this.closing.splice(0).toReversed()) await close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A database with one connection, as a command opens it. */
  async open(url: string): Promise<Database> {
    const opened = await openDatabase({
      databaseUrl: url,
      dataDir: "",
      log: createLog({ level: "silent" }),
      maxConnections: 1,
      migrate: "later",
    });
    if (!opened.ok) throw new Error(opened.error.message);
    this.closing.push(() => opened.value.close());
    return opened.value;
  }

  /** An URL of a database without tables. */
  async emptyDatabase(store: StoreName = "embedded"): Promise<string> {
    const { url, drop } = await createTestDatabase(store, "empty");
    this.closing.push(drop);
    return url;
  }

  /** A migrated database. */
  async source(): Promise<TestDatabase> {
    const db = await openTestDatabase();
    this.closing.push(() => db.drop());
    return db;
  }

  /** Takes a backup; returns its folder. */
  async backUp(url: string): Promise<string> {
    const { sql, serverVersion } = await this.open(url);
    const folder = path.join(this.folder, "backup");
    const taken = await takeBackup({ sql, serverVersion, folder, nowMs: systemClock.nowMs() });
    if (!taken.ok) throw new Error(taken.error.message);
    return folder;
  }

  /** Restores; "restored", or the refusal as text. */
  async restore(url: string, from: string): Promise<string> {
    const { sql, close } = await this.open(url);
    const restored = await restoreBackup(sql, from);
    await close();
    return restored.ok ? "restored" : `${restored.error.type}: ${restored.error.message}`;
  }
}
