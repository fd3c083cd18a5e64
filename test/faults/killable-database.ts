/**
 * An installed Postgres of one's own that can be killed without warning and started again. It syncs
 * as a real one does.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

import { freePort } from "../../demo/relay-process.ts";
import { serverUser } from "../../src/relay/db/embedded-user.ts";
import { systemBinaries } from "../support/clusters.ts";
import { pause } from "./load.ts";

/** A database server. */
export interface KillableDatabase extends AsyncDisposable {
  readonly url: string;
  /** SIGKILL to the whole server, and a new start. */
  readonly killAndRestart: () => Promise<void>;
}

const startTries = 100;
const retryMs = 100;

/** Starts one; undefined where no Postgres is installed. */
export async function startKillableDatabase(): Promise<KillableDatabase | undefined> {
  const binaries = systemBinaries();
  if (binaries === undefined) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-faults-"));
  const data = path.join(folder, "data");
  const user = serverUser(data);
  if (!user.ok) throw new Error(user.error.message);
  if (user.value !== undefined) chownSync(folder, user.value.uid, user.value.gid);
  const options = { ...user.value, cwd: folder, env: { LC_ALL: "C" } };
  const initdb = ["-D", data, "-U", "pixie", "--auth=trust", "-E", "UTF8", "--locale=C"];
  execFileSync(path.join(binaries, "initdb"), initdb, { ...options, stdio: "ignore" });
  const port = await freePort();
  const words = ["-D", data, "-k", folder, "-p", String(port), "-c", "listen_addresses=127.0.0.1"];

  async function start(): Promise<ChildProcess> {
    for (let tries = 0; tries < startTries; tries++) {
      const child = spawn(path.join(binaries ?? "", "postgres"), words, {
        ...options,
        stdio: ["ignore", "ignore", "pipe"],
      });
      if (await isReady(child)) return child;
      // Processes of the server that was killed still hold its memory: they end on their own.
      await pause(retryMs);
    }
    throw new Error("the database did not start again");
  }

  let server = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };
  return {
    url: `postgres://pixie@127.0.0.1:${port}/postgres`,
    killAndRestart: async () => {
      await end("SIGKILL");
      server = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isReady(child: ChildProcess): Promise<boolean> {
  const { stderr } = child;
  if (stderr === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    child.once("exit", () => resolve(false));
    createInterface({ input: stderr }).on("line", (line) => {
      if (line.includes("database system is ready to accept connections")) resolve(true);
    });
  });
}
