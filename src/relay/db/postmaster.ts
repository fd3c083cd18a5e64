/**
 * The embedded server as a child process: started with our settings, watched, started again when it
 * dies, stopped fast. It listens on a unix socket only.
 *
 * Real processes take real time, so this file uses timers instead of the clock port.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import type { DatabaseError } from "./database-error.ts";
import type { Binaries } from "./embedded-binaries.ts";
import type { ServerUser } from "./embedded-user.ts";

/** What to run, on which cluster. */
export interface PostmasterOptions {
  readonly binaries: Binaries;
  readonly cluster: string;
  readonly socketFolder: string;
  readonly user: ServerUser | undefined;
  /** Added to, or instead of, our settings. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly log: Logger;
}

/** A server that runs until it is stopped. */
export interface Postmaster {
  /** Of the process that runs now. */
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
}

/** Starts are tried for this long: a server that was killed leaves processes that end on their own. */
const startMs = 10_000;
const retryMs = 200;
/** After a fast stop that does not end, an immediate one: the log is replayed at the next start. */
const stopMs = 20_000;

const baseSettings: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  // "accepted" means on disk.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  max_wal_size: "256MB",
  // Small: pool, migrations, a backup. Everything idle stays under 150 MB with the relay itself.
  max_connections: "40",
  shared_buffers: "48MB",
  max_worker_processes: "2",
  max_parallel_workers: "0",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "2",
  io_method: "sync",
  jit: "off",
  plan_cache_mode: "force_custom_plan",
  timezone: "UTC",
  log_timezone: "UTC",
  // Error texts quote values (mailbox ids): only the server's own doings are logged.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
};

/** Starts the server and waits until it takes connections. Errors: `embedded-start`. */
export async function startPostmaster(
  options: PostmasterOptions,
): Promise<Result<Postmaster, DatabaseError>> {
  const first = await startWithin(options);
  if (!first.ok) return first;
  let child = first.value;
  const stopping = new AbortController();
  let restarting: Promise<void> = Promise.resolve();

  const watch = (): void => {
    child.once("exit", (code, signal) => {
      if (stopping.signal.aborted) return;
      options.log.error({ code, signal }, "the database server ended; starting it again");
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const next = await startWithin(options);
      if (next.ok) {
        child = next.value;
        watch();
        return;
      }
      // Statements and readiness fail meanwhile; giving up would only turn that into a crash.
      options.log.fatal({ reason: next.error.message }, "the database server does not start again");
    }
  };
  // A relay that ends without a drain (second signal, a bug) at least does not leave the server behind.
  const stopAtExit = (): void => void child.kill("SIGINT");
  process.once("exit", stopAtExit);
  watch();
  return ok({
    pid: () => child.pid,
    stop: async () => {
      stopping.abort();
      process.off("exit", stopAtExit);
      await restarting;
      await stopChild(child);
    },
  });
}

async function startWithin(
  options: PostmasterOptions,
): Promise<Result<ChildProcess, DatabaseError>> {
  const until = performance.now() + startMs;
  for (;;) {
    const started = await startOnce(options);
    if (started.ok) return started;
    if (performance.now() > until) {
      return err({
        type: "embedded-start",
        message: `the embedded database did not start within ${startMs / 1000} s: ${started.error}`,
      });
    }
    await delay(retryMs);
  }
}

/** One try. The error is the last thing the server said. */
function startOnce(options: PostmasterOptions): Promise<Result<ChildProcess, string>> {
  const { binaries, cluster, socketFolder, user, log } = options;
  const settings = Object.entries({ ...baseSettings, ...options.settings });
  const words = [
    "-D",
    cluster,
    "-k",
    socketFolder,
    ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  // Detached: the terminal's ctrl-C reaches the relay alone, which drains before it stops the server.
  const child = spawn(binaries.postgres, words, {
    ...user,
    cwd: cluster,
    env: { LC_ALL: "C" },
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((resolve) => {
    let last = "it said nothing";
    child.once("error", (cause) => resolve(err(cause.message)));
    child.once("exit", (code, signal) => resolve(err(`${last} (exit ${code ?? signal})`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const said = line.replace(/^.*?(LOG|FATAL|PANIC|HINT): +/, "");
      if (/ (FATAL|PANIC): /.test(line)) last = said;
      log.debug({ postgres: said }, "database server");
      if (said === "database system is ready to accept connections") resolve(ok(child));
    });
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGQUIT"), stopMs);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGINT");
  });
}
