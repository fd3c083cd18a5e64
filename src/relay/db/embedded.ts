/**
 * A real Postgres inside the relay's own data folder: no service to install, the same engine and
 * the same durability as an external one.
 *
 * In order: lock the folder, choose the user, look at the folder, find the binaries, make the
 * cluster, stop what a killed relay left, start. Each step is a file of its own; everything undone
 * in reverse on stop. Spec: docs/operating.md "The database".
 */
import { realpathSync, rmSync } from "node:fs";
import path from "node:path";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import { clusterFolder, ensureCluster, socketFolder } from "./cluster.ts";
import { prepareDataFolder } from "./data-folder.ts";
import type { DatabaseError } from "./database-error.ts";
import { findBinaries } from "./embedded-binaries.ts";
import { serverUser } from "./embedded-user.ts";
import { lockFolder } from "./folder-lock.ts";
import { stopOrphan } from "./orphan.ts";
import { startPostmaster } from "./postmaster.ts";

/** A running embedded server. */
export interface EmbeddedServer {
  /** Folder of its unix socket; connect there as `embeddedRole`. */
  readonly socketFolder: string;
  /** Of the server process that runs now. */
  readonly pid: () => number | undefined;
  /** Stops it fast and gives the folder up. */
  readonly stop: () => Promise<void>;
}

/** Where and how to run it. */
export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Logger;
  /** Server settings that differ from ours; tests turn fsync off. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Starts it. Errors: `locked`, `data-folder`, `no-binaries`, `embedded-start`; nothing runs then. */
export async function startEmbedded(
  options: EmbeddedOptions,
): Promise<Result<EmbeddedServer, DatabaseError>> {
  const user = serverUser(clusterFolder(options.dataDir));
  if (!user.ok) return user;
  const folder = prepareDataFolder(path.resolve(options.dataDir), user.value);
  if (!folder.ok) return folder;
  // The server is recognised by the folder it works in, which the system tells without links.
  const dataDir = realpathSync(options.dataDir);
  const lock = lockFolder(path.join(dataDir, "relay.lock"));
  if (!lock.ok) {
    return err({
      ...lock.error,
      message: `data_dir ${dataDir} is in use by the relay with pid ${lock.error.holderPid}: stop that one, or choose another data_dir`,
    });
  }
  const started = await startLocked({ ...options, dataDir }, user.value);
  if (!started.ok) {
    lock.value.release();
    return started;
  }
  const { stop, ...server } = started.value;
  return ok({
    ...server,
    stop: async () => {
      await stop();
      lock.value.release();
    },
  });
}

async function startLocked(
  options: EmbeddedOptions,
  user: { readonly uid: number; readonly gid: number } | undefined,
): Promise<Result<EmbeddedServer, DatabaseError>> {
  const { dataDir, log, settings } = options;
  const cluster = clusterFolder(dataDir);
  const binaries = await findBinaries(path.join(dataDir, "postgres-binaries"), user);
  if (!binaries.ok) return binaries;
  const made = await ensureCluster(dataDir, binaries.value, user);
  if (!made.ok) return made;
  const alone = await stopOrphan(cluster, log);
  if (!alone.ok) return alone;
  const socket = socketFolder(dataDir, user);
  const removeSocket = (): void => rmSync(socket, { recursive: true, force: true });
  const postmaster = await startPostmaster({
    binaries: binaries.value,
    cluster,
    socketFolder: socket,
    user,
    settings,
    log,
  });
  if (!postmaster.ok) {
    removeSocket();
    return postmaster;
  }
  return ok({
    socketFolder: socket,
    pid: postmaster.value.pid,
    stop: async () => {
      await postmaster.value.stop();
      removeSocket();
    },
  });
}
