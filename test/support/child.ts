/**
 * Real processes for tests: a TypeScript program started as a child, read line by line. Nobody
 * sleeps: a test waits for a line or for the end.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running child. */
export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** The next line of stdout; rejects, with stderr, when the child ends first. */
  readonly nextLine: () => Promise<string>;
  /** Exit code and signal, once it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Everything on stderr so far. */
  readonly stderr: () => string;
}

/** Starts a program of the repository: a path from its root, arguments, and additional environment. */
export function startChild(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, ...words], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "close").then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
  }));
  return {
    process: child,
    pid: child.pid ?? 0,
    nextLine: async () => {
      const next = await lines.next();
      if (next.done !== true) return next.value;
      const { code, signal } = await ended;
      throw new Error(
        `the child ended (${code ?? signal}) before another line; it said: ${errors}`,
      );
    },
    ended,
    stderr: () => errors,
  };
}
