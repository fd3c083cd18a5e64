/**
 * The relay's data folder: made 0700, and looked at before a database is put there. What it finds
 * wrong is told as a sentence with a remedy, before Postgres would fail with a stranger one (O20, O25).
 *
 *   <data_dir>/relay.lock      folder-lock.ts
 *   <data_dir>/postgres-18/    the cluster (cluster.ts)
 *   <data_dir>/run/            its socket, unless the path is too long
 */
import { chmodSync, statfsSync, statSync } from "node:fs";
import path from "node:path";

import { makeFolders } from "./make-folders.ts";
import { networkFileSystemName } from "../../shared/network-file-system.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { clusterFolder } from "./cluster.ts";
import { causeText, type DatabaseError } from "./database-error.ts";
import { type ServerUser, serverUser } from "./embedded-user.ts";

/** A fresh cluster takes 40 MB and its log may grow to 256 MB. */
const minFreeBytes = 320 * 1_048_576;

/**
 * Makes the folder if need be and checks owner, file system and free space.
 * Errors: `data-folder`.
 */
export function prepareDataFolder(
  folder: string,
  user: ServerUser | undefined,
): Result<undefined, DatabaseError> {
  try {
    // Folders above it are ordinary ones: as root, the server's user has to pass through them, too.
    makeFolders(path.dirname(folder), 0o777);
    makeFolders(folder, 0o700);
    const owner = ownerProblem(folder);
    // As root, the server's user has to pass through to its own 0700 folder, and may not look around.
    if (owner === undefined) chmodSync(folder, user === undefined ? 0o700 : 0o711);
    const problem = owner ?? passageProblem(folder, user) ?? spaceProblem(folder);
    return problem === undefined ? ok(undefined) : err({ type: "data-folder", message: problem });
  } catch (cause) {
    return err({
      type: "data-folder",
      message: `cannot use data_dir ${folder}: ${causeText(cause)}`,
    });
  }
}

/** What is wrong with a folder that exists, without changing it; undefined when nothing is. */
export function inspectDataFolder(folder: string): string | undefined {
  try {
    const user = serverUser(clusterFolder(folder));
    if (!user.ok) return user.error.message;
    return ownerProblem(folder) ?? passageProblem(folder, user.value) ?? spaceProblem(folder);
  } catch (cause) {
    return `cannot look at data_dir ${folder}: ${causeText(cause)}`;
  }
}

function ownerProblem(folder: string): string | undefined {
  const found = statSync(folder);
  if (!found.isDirectory()) return `data_dir ${folder} is not a folder`;
  const us = process.getuid?.();
  return us === undefined || found.uid === us
    ? undefined
    : `data_dir ${folder} belongs to uid ${found.uid} and the relay runs as uid ${us}: chown it, or choose another folder`;
}

/** The first folder on the way that the server's user cannot pass. */
function passageProblem(folder: string, user: ServerUser | undefined): string | undefined {
  if (user === undefined) return undefined;
  for (let at = folder; ; at = path.dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const passBit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & passBit) === 0) {
      return `the embedded database runs as uid ${user.uid}, which may not pass through ${at}: chmod o+x ${at}, choose another data_dir, or set DATABASE_URL`;
    }
    if (at === path.dirname(at)) return undefined;
  }
}

function spaceProblem(folder: string): string | undefined {
  const { type, bavail, bsize } = statfsSync(folder);
  const network = process.platform === "linux" ? networkFileSystemName(type) : undefined;
  if (network !== undefined) {
    return `data_dir ${folder} is on ${network}, which loses what a database wrote: use a local disk, or set DATABASE_URL`;
  }
  const free = bavail * bsize;
  return free >= minFreeBytes
    ? undefined
    : `data_dir ${folder} has ${Math.floor(free / 1_048_576)} MiB free, expected at least ${minFreeBytes / 1_048_576} MiB: free some space, or choose another folder`;
}
