/**
 * The private folder and the processes of one run. Whatever happens, both are gone at the end: every
 * process is a child that is ended by its id, with what it started.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** A user to run as. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Folder and processes. */
export interface Stage extends AsyncDisposable {
  readonly folder: string;
  /** Starts a process whose output goes to `<name>.log`. */
  readonly start: (name: string, words: readonly string[], options?: StartOptions) => ChildProcess;
  /** The end of a process's log, for an error text. */
  readonly lastWords: (name: string) => string;
}

/** How to start. */
export interface StartOptions {
  readonly user?: User | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

const shownCharacters = 2_000;

/** Makes the folder. */
export function createStage(): Stage {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-failover-"));
  chmodSync(folder, 0o755);
  const children = new Set<ChildProcess>();
  const clear = async (): Promise<void> => {
    await Promise.all([...children].map(endGroup));
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void clear().then(() => process.exit(1)));
  }
  return {
    folder,
    start: (name, [program = "", ...words], { user, env } = {}) => {
      const log = openSync(path.join(folder, `${name}.log`), "a");
      // A group of its own: what it starts ends with it.
      const child = spawn(program, words, {
        ...user,
        cwd: folder,
        detached: true,
        stdio: ["ignore", log, log],
        env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", HOME: folder, ...env },
      });
      closeSync(log);
      children.add(child);
      child.once("exit", () => children.delete(child));
      return child;
    },
    lastWords: (name) =>
      readFileSync(path.join(folder, `${name}.log`), "utf8").slice(-shownCharacters),
    [Symbol.asyncDispose]: clear,
  };
}

/** Ends a process and everything in its group, frozen or not. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  signalGroup(child, "SIGKILL");
  await ended;
}

/** Signals a process and everything in its group. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is empty.
  }
}

/** A loopback port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("the system gave no port");
  return address.port;
}

/** Asks until the answer is yes. Throws with the reason after the bound. Units: ms. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { withinMs, pause }: { readonly withinMs: number; readonly pause: () => Promise<void> },
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs / 1000} s`);
    await pause();
  }
}
