/**
 * Which user the embedded server runs as. Postgres refuses to run as root, so a relay started by
 * root hands it to an unprivileged user; everybody else runs it as themselves.
 */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";

import { err, ok, type Result } from "../../shared/result.ts";
import type { DatabaseError } from "./database-error.ts";

/** A user to start processes as; undefined means ourselves. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The owner of an existing cluster, or the first of postgres and nobody. Undefined when we are not
 * root. Errors: `embedded-start` when there is no such user.
 */
export function serverUser(clusterFolder: string): Result<ServerUser | undefined, DatabaseError> {
  if (process.getuid?.() !== 0) return ok(undefined);
  // An installed package may add `postgres` later; what exists keeps its owner.
  const owner = statSync(clusterFolder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return ok({ uid: owner.uid, gid: owner.gid });
  for (const name of ["postgres", "nobody"]) {
    const uid = askId("-u", name);
    const gid = askId("-g", name);
    if (uid !== undefined && gid !== undefined && uid !== 0) return ok({ uid, gid });
  }
  return err({
    type: "embedded-start",
    message:
      "the embedded database cannot run as root and there is no user postgres or nobody: start the relay as another user, or set DATABASE_URL",
  });
}

function askId(flag: "-u" | "-g", name: string): number | undefined {
  try {
    const told = execFileSync("id", [flag, name], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number(told);
  } catch {
    // `id` exits with 1 for a user that does not exist.
    return undefined;
  }
}
