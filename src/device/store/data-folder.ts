/**
 * The folder that holds one device: created 0700, and refused before anything in it changes when it
 * could not keep a secret or a database.
 *
 * It does not lock (lock.ts) and knows no key (key-source.ts). First step of opening a device on
 * disk. Spec: docs/operating.md "Data folder".
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  statfsSync,
} from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";

import { networkFileSystemName } from "../../shared/network-file-system.ts";
import { err, ok, type Result } from "../../shared/result.ts";

/** Why a folder cannot hold a device. `message` says what to do. */
export interface DataFolderError {
  readonly type:
    | "folder-missing-parent"
    | "folder-not-a-folder"
    | "folder-owner"
    | "folder-permissions"
    | "folder-read-only"
    | "folder-network";
  readonly message: string;
}

/** Creates the folder when it is absent and checks it. Changes nothing when it answers an error. */
export function prepareDataFolder(dataDir: string): Result<undefined, DataFolderError> {
  const created = createFolder(dataDir);
  if (!created.ok) return created;
  const stats = statSync(dataDir);
  if (!stats.isDirectory()) {
    return refuse("folder-not-a-folder", `expected a folder at ${dataDir}, got a file`);
  }
  const owner = checkOwner(dataDir, stats);
  if (!owner.ok) return owner;
  const network = networkFileSystem(dataDir);
  if (network !== undefined) {
    // O25: SQLite's write-ahead log silently corrupts where memory is not shared between openers.
    return refuse(
      "folder-network",
      `${dataDir} is on a network file system (${network}): choose a local folder with --data-dir`,
    );
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return refuse("folder-read-only", `cannot write in ${dataDir}: expected a writable folder`);
  }
  return tightenMode(dataDir, stats);
}

function createFolder(dataDir: string): Result<undefined, DataFolderError> {
  try {
    makeFolders(dataDir);
    return ok(undefined);
  } catch (cause) {
    if (errorCode(cause) === "EEXIST" || errorCode(cause) === "ENOTDIR") {
      return refuse("folder-not-a-folder", `expected a folder at ${dataDir}, got a file`);
    }
    return refuse(
      "folder-missing-parent",
      `cannot create ${dataDir} (${errorCode(cause)}): name a folder that you may create with --data-dir`,
    );
  }
}

/** One by one: Node's recursive way never ends where procfs answers that the new folder is missing. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(path.dirname(path.resolve(folder)));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    // Somebody else may have made it just now.
    if (!existsSync(folder)) throw cause;
  }
}

function checkOwner(dataDir: string, stats: Stats): Result<undefined, DataFolderError> {
  const me = process.getuid?.();
  if (me === undefined || stats.uid === me) return ok(undefined);
  return refuse(
    "folder-owner",
    `${dataDir} belongs to user ${stats.uid}, this process runs as ${me}: run as its owner or choose another --data-dir`,
  );
}

/** Closes an empty folder to others; a used one is never changed, because something may rely on it. */
function tightenMode(dataDir: string, stats: Stats): Result<undefined, DataFolderError> {
  if ((stats.mode & 0o077) === 0) return ok(undefined);
  if (readdirSync(dataDir).length > 0) {
    const got = (stats.mode & 0o777).toString(8).padStart(4, "0");
    return refuse(
      "folder-permissions",
      `${dataDir} is open to other users: expected mode 0700, got ${got}: run chmod 700 on it`,
    );
  }
  chmodSync(dataDir, 0o700);
  return ok(undefined);
}

function networkFileSystem(dataDir: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return networkFileSystemName(statfsSync(dataDir).type);
}

function errorCode(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}

function refuse(
  type: DataFolderError["type"],
  message: string,
): { readonly ok: false; readonly error: DataFolderError } {
  return err({ type, message });
}
