/**
 * A relay that is killed leaves its database server running, and that blocks the next start (2 of 2
 * in a trial). Under the folder lock, this stops such a server before another is started, after
 * verifying that it serves our folder and that nobody uses it.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import postgres from "postgres";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import { embeddedDatabase, embeddedRole } from "./cluster.ts";
import { causeText, type DatabaseError } from "./database-error.ts";
import { processCommand, processesIn, processStart } from "./process-identity.ts";

/** Sessions of the killed relay end when their statements do; after this they are somebody's. */
const sessionsEndMs = 3_000;
/** A fast stop rolls back and writes a checkpoint. */
const stopMs = 30_000;
const pollMs = 50;

/**
 * Stops a server that was left behind in that cluster folder, if there is one.
 * Errors: `locked` when it is in use, `embedded-start` when it does not stop.
 */
export async function stopOrphan(
  cluster: string,
  log: Logger,
): Promise<Result<undefined, DatabaseError>> {
  const pidFile = readPidFile(cluster);
  if (pidFile === undefined) return ok(undefined);
  const { pid, socketFolder } = pidFile;
  const start = processStart(pid);
  if (start === undefined || !serves(pid, cluster)) {
    forgetRecycledPid(cluster, log);
    return ok(undefined);
  }
  if (await inUse(socketFolder)) {
    return err({
      type: "locked",
      holderPid: pid,
      message: `the database in ${cluster} (pid ${pid}) has other sessions: another relay uses it; stop that one, or choose another data_dir`,
    });
  }
  log.warn({ pid }, "stopping the database server that a killed relay left behind");
  process.kill(pid, "SIGINT");
  if (!(await gone(pid, start))) {
    return err({
      type: "embedded-start",
      message: `the database server with pid ${pid} was left behind and did not stop within ${stopMs / 1000} s: stop it (kill -INT ${pid}), then start again`,
    });
  }
  if (path.basename(socketFolder).startsWith("pixie-")) {
    rmSync(socketFolder, { recursive: true, force: true });
  }
  return ok(undefined);
}

/** The socket folder of the server that runs in a cluster now, if one does. */
export function servingSocket(cluster: string): string | undefined {
  const pidFile = readPidFile(cluster);
  return pidFile !== undefined && serves(pidFile.pid, cluster) ? pidFile.socketFolder : undefined;
}

/** pid on line 1, socket folder on line 5. */
function readPidFile(
  cluster: string,
): { readonly pid: number; readonly socketFolder: string } | undefined {
  const file = path.join(cluster, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? { pid, socketFolder: lines[4] ?? "" } : undefined;
}

function serves(pid: number, cluster: string): boolean {
  const command = processCommand(pid) ?? "";
  return command.includes("postgres") && command.includes(`-D ${cluster} `);
}

/**
 * Postgres refuses to start while the pid in its file belongs to any process of its user. When that
 * one is not a server and nothing works in the folder, the file is a leftover. Elsewhere than on
 * Linux it stays: removing it blindly would allow two servers on one folder.
 */
function forgetRecycledPid(cluster: string, log: Logger): void {
  if (processesIn(cluster)?.length !== 0) return;
  log.info("removing the pid file of a database server that no longer runs");
  rmSync(path.join(cluster, "postmaster.pid"), { force: true });
}

async function inUse(socketFolder: string): Promise<boolean> {
  const until = performance.now() + sessionsEndMs;
  const sql = postgres({
    host: socketFolder,
    user: embeddedRole,
    database: embeddedDatabase,
    max: 1,
    connect_timeout: 5,
    onnotice: () => {},
  });
  try {
    for (;;) {
      const sessions = await sql`
        select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      if (sessions.length === 0) return false;
      if (performance.now() > until) return true;
      await delay(pollMs);
    }
  } catch (cause) {
    // It takes no connections (starting, stopping, socket removed): then nobody has one.
    return !/ENOENT|ECONNREFUSED|starting up|shutting down|CONNECT_TIMEOUT/.test(causeText(cause));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function gone(pid: number, start: string): Promise<boolean> {
  const until = performance.now() + stopMs;
  while (processStart(pid) === start) {
    if (performance.now() > until) return false;
    await delay(pollMs);
  }
  return true;
}
