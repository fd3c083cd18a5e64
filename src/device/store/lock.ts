/**
 * One process per data folder. The lock is an exclusive SQLite lock on an empty file of its own, so
 * the kernel releases it the moment its holder dies: there is no stale lock to judge, and no race
 * between two processes that both think they take one over.
 *
 * A pid file beside it only names the holder for people; it decides nothing. Taken before the store
 * is opened or migrated, released last (O10). Spec: docs/operating.md "Data folder".
 */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { err, ok, type Result } from "../../shared/result.ts";
import { SqliteDatabase, type SqliteConnection } from "./driver.ts";

/** Another process holds the folder. `pid` is absent while the holder is only starting. */
export interface LockError {
  readonly type: "locked";
  readonly pid: number | undefined;
  readonly message: string;
}

/** The held lock. Releasing twice is harmless. */
export interface FolderLock extends Disposable {
  readonly release: () => void;
}

const lockFile = "device.lock";
const pidFile = "device.pid";

// A database that nobody references is closed by the garbage collector, and its lock goes with it.
const held = new Set<SqliteConnection>();

/** Takes the folder's lock at once or answers who holds it. Throws when the disk refuses. */
export function lockDataFolder(dataDir: string): Result<FolderLock, LockError> {
  const database = new SqliteDatabase(path.join(dataDir, lockFile), { timeout: 0 });
  try {
    chmodSync(path.join(dataDir, lockFile), 0o600);
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (cause instanceof SqliteDatabase.SqliteError && cause.code.startsWith("SQLITE_BUSY")) {
      return err(lockedBy(dataDir));
    }
    throw cause;
  }
  held.add(database);
  writePid(dataDir);
  const release = (): void => {
    if (!held.delete(database)) return;
    // The name goes before the lock: afterwards it could already be that of the next holder.
    rmSync(path.join(dataDir, pidFile), { force: true });
    database.close();
  };
  return ok({ release, [Symbol.dispose]: release });
}

/** The process that says it holds the folder, when it is alive. For people; it decides nothing. */
export function lockHolder(dataDir: string): number | undefined {
  let written: string;
  try {
    written = readFileSync(path.join(dataDir, pidFile), "utf8");
  } catch {
    // Nobody holds it, or the holder is just starting.
    return undefined;
  }
  const pid = Number.parseInt(written, 10);
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? pid : undefined;
}

function lockedBy(dataDir: string): LockError {
  const pid = lockHolder(dataDir);
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return {
    type: "locked",
    pid,
    message: `${dataDir} is in use by ${holder}: stop it, or choose another folder with --data-dir`,
  };
}

function writePid(dataDir: string): void {
  const target = path.join(dataDir, pidFile);
  const draft = `${target}.new`;
  writeFileSync(draft, `${process.pid}\n`, { mode: 0o600 });
  renameSync(draft, target);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: it lives and belongs to somebody else.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}
