/**
 * The embedded cluster on disk: made once, in a folder beside, and renamed when it is whole, so
 * that an interrupted initdb never blocks the next start. Also where its socket lies.
 *
 * Runs under the folder lock. Starting the server is postmaster.ts.
 */
import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { err, ok, type Result } from "../../shared/result.ts";
import { causeText, type DatabaseError } from "./database-error.ts";
import type { Binaries } from "./embedded-binaries.ts";
import type { ServerUser } from "./embedded-user.ts";

/** Major version of the binaries, in the cluster's name: another major never opens these files. */
const embeddedMajor = 18;

/** The only role and the database of the embedded cluster. */
export const embeddedRole = "pixie";
export const embeddedDatabase = "postgres";

// sun_path holds 104 bytes on macOS, 108 on Linux.
const maxSocketPath = 100;

/** Where the cluster of a data folder lies. */
export function clusterFolder(dataDir: string): string {
  return path.join(dataDir, `postgres-${embeddedMajor}`);
}

/** Makes the cluster unless it exists. Errors: `embedded-start`. */
export async function ensureCluster(
  dataDir: string,
  binaries: Binaries,
  user: ServerUser | undefined,
): Promise<Result<undefined, DatabaseError>> {
  const folder = clusterFolder(dataDir);
  removeUnfinished(dataDir);
  if (existsSync(folder)) return checkVersion(folder);
  const unfinished = `${folder}.unfinished`;
  try {
    makePrivate(unfinished, user);
    const options = [
      "-D",
      unfinished,
      "-U",
      embeddedRole,
      "-E",
      "UTF8",
      "--locale=C",
      "--auth=trust",
    ];
    await promisify(execFile)(binaries.initdb, options, {
      ...user,
      cwd: unfinished,
      env: { LC_ALL: "C" },
    });
    renameSync(unfinished, folder);
    syncFolder(dataDir);
    return ok(undefined);
  } catch (cause) {
    return err({ type: "embedded-start", message: `initdb failed: ${causeText(cause)}` });
  }
}

/** A 0700 folder for the socket, whose path is short enough. The caller removes it afterwards. */
export function socketFolder(dataDir: string, user: ServerUser | undefined): string {
  const inside = path.join(dataDir, "run");
  if (path.join(inside, ".s.PGSQL.5432.lock").length <= maxSocketPath) {
    rmSync(inside, { recursive: true, force: true });
    makePrivate(inside, user);
    return inside;
  }
  const outside = mkdtempSync(path.join(tmpdir(), "pixie-"));
  if (user !== undefined) chownSync(outside, user.uid, user.gid);
  return outside;
}

function makePrivate(folder: string, user: ServerUser | undefined): void {
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
}

function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name.endsWith(".unfinished"))
      rmSync(path.join(dataDir, name), { recursive: true, force: true });
  }
}

function checkVersion(folder: string): Result<undefined, DatabaseError> {
  const file = path.join(folder, "PG_VERSION");
  const found = existsSync(file) ? readFileSync(file, "utf8").trim() : "no version";
  return found === String(embeddedMajor)
    ? ok(undefined)
    : err({
        type: "embedded-start",
        message: `${folder} holds a cluster of ${found}, expected ${embeddedMajor}: restore a backup, or choose another data_dir`,
      });
}

// The rename is durable only once the folder that holds both names is.
function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
