/**
 * What a command may touch besides the device: output, input, a person at a terminal, an editor,
 * files and signals. A port, so that tests run commands in this process.
 *
 * Spec: docs/operating.md "Command line".
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { text as readText } from "node:stream/consumers";

import { err, ok, type Result } from "../../shared/result.ts";
import type { DeviceError } from "../device.ts";
import { byteBar, type ProgressBar } from "./progress-bar.ts";

/** The world around a command. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostName: string;
  /** Whether a person can be asked: both input and error output are a terminal. */
  readonly interactive: boolean;
  /** Whether data goes to a person rather than to a program. */
  readonly outputIsTerminal: boolean;
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
  readonly readInput: () => Promise<string>;
  readonly readFile: (file: string) => Result<string, DeviceError>;
  /** Asks on the error output. Only when `interactive`. */
  readonly ask: (question: string) => Promise<string>;
  /** Lines of the input until it ends; a person sees the prompt before each. */
  readonly lines: (prompt: string) => AsyncIterable<string>;
  /** Lets a person edit a text in $EDITOR. */
  readonly edit: (text: string) => Promise<Result<string, DeviceError>>;
  /** Starts a bar on the error output, for a person who waits; nobody else sees one. */
  readonly byteBar: (title: string) => ProgressBar;
  /** Resolves at the first SIGINT or SIGTERM after the call; the second ends the process. */
  readonly stopped: () => Promise<void>;
}

/** The real world. */
export function systemIo(): CliIo {
  const { env } = process;
  return {
    env,
    hostName: hostname(),
    interactive: process.stdin.isTTY && process.stderr.isTTY,
    outputIsTerminal: process.stdout.isTTY,
    writeOut: (text) => void process.stdout.write(text),
    writeErr: (text) => void process.stderr.write(text),
    readInput: () => readText(process.stdin),
    readFile,
    ask,
    lines: readLines,
    edit: (text) => edit(text, env["VISUAL"] ?? env["EDITOR"]),
    byteBar,
    stopped,
  };
}

async function stopped(): Promise<void> {
  const first = new AbortController();
  const { signal } = first;
  await Promise.race([once(process, "SIGINT", { signal }), once(process, "SIGTERM", { signal })]);
  // Both listeners go, so that a second signal of either kind ends the process at once.
  first.abort();
}

function readFile(file: string): Result<string, DeviceError> {
  try {
    return ok(readFileSync(file, "utf8"));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    return err({ type: "usage", message: `expected a readable file, got ${file} (${code})` });
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

async function* readLines(prompt: string): AsyncGenerator<string> {
  const person = process.stdin.isTTY && process.stderr.isTTY;
  const lines = createInterface({ input: process.stdin });
  const show = (): void => {
    if (person) process.stderr.write(prompt);
  };
  show();
  for await (const line of lines) {
    yield line;
    show();
  }
}

async function edit(
  text: string,
  editor: string | undefined,
): Promise<Result<string, DeviceError>> {
  if (editor === undefined || editor === "") {
    return err({
      type: "usage",
      message: "no editor to open: set $EDITOR, or give the text with --body-file",
    });
  }
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-edit-"));
  const file = path.join(folder, "skill.md");
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // Through a shell, as git does: $EDITOR may hold arguments.
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "editor", file], { stdio: "inherit" });
    const [code] = await once(child, "exit");
    if (code !== 0) return err({ type: "usage", message: `the editor ended with ${code}` });
    return ok(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
