/**
 * A server's process as a transport: one JSON message a line, over its standard input and output. The
 * process gets a small environment and a group of its own, and ends with all of its children when the
 * transport closes.
 *
 * Bounds: bytes of one message, and of everything between two requests; beyond, the process is ended. Of
 * its error output the tail is kept. Spec: docs/agent.md "MCP servers".
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

import type { Clock } from "../../shared/clock.ts";
import { McpTroubleError } from "./failure.ts";
import type { McpServerConfig } from "./port.ts";

/** A transport that says why it ended. */
export interface StdioTransport extends Transport {
  /** Why nothing comes any more, once that is so. */
  readonly trouble: () => McpTroubleError | undefined;
  /** Resolves when the process is gone. */
  readonly close: () => Promise<void>;
}

/** How a process is started. */
export interface StdioParts {
  readonly clock: Clock;
  /** What every process gets of an environment, before what is configured for it. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** One message, and all output between two of ours. Units: bytes. */
const maxMessageBytes = 1_048_576;
const maxSilenceBytes = 4 * maxMessageBytes;
/** Error output that is kept for a failure. Units: characters. */
const keptErrors = 1_000;
/** How long a process has to end by itself. Units: ms. */
const graceMs = 2_000;

/** Builds one. Nothing is started before `start`. */
export function createStdioTransport(
  config: Omit<McpServerConfig, "name">,
  parts: StdioParts,
): StdioTransport {
  return new ServerProcess(config, parts);
}

class ServerProcess implements StdioTransport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #config: Omit<McpServerConfig, "name">;
  readonly #parts: StdioParts;
  readonly #buffer = new ReadBuffer({ maxBufferSize: maxMessageBytes });
  #child: ChildProcessWithoutNullStreams | undefined;
  #gone: Promise<unknown> = Promise.resolve();
  #ended = true;
  #trouble: McpTroubleError | undefined;
  #errors = "";
  #unasked = 0;

  constructor(config: Omit<McpServerConfig, "name">, parts: StdioParts) {
    this.#config = config;
    this.#parts = parts;
  }

  trouble(): McpTroubleError | undefined {
    return this.#trouble;
  }

  async start(): Promise<void> {
    const { command, args, env } = this.#config;
    const { baseEnv, cwd } = this.#parts;
    const child = spawn(command, [...args], { env: { ...baseEnv, ...env }, cwd, detached: true });
    this.#child = child;
    this.#ended = false;
    this.#gone = new Promise((resolve) => child.once("close", resolve));
    // Writing to a process that has gone raises EPIPE here, and only here: its end is told below.
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk.toString("utf8")}`.slice(-keptErrors);
    });
    child.once("close", (code, signal) => this.#closed(String(signal ?? code)));
    try {
      await once(child, "spawn");
    } catch (cause) {
      this.#ended = true;
      throw (this.#trouble = notStarted(command, cause));
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#child === undefined || this.#trouble !== undefined) {
      throw this.#trouble ?? new Error("a message before the process was started");
    }
    this.#unasked = 0;
    this.#child.stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    this.#child?.stdin.end();
    this.#end("SIGTERM");
    const cancel = this.#parts.clock.schedule(graceMs, () => this.#end("SIGKILL"));
    await this.#gone;
    cancel();
  }

  #receive(chunk: Buffer): void {
    this.#unasked += chunk.length;
    if (this.#unasked > maxSilenceBytes) {
      return this.#flooded(`more than ${maxSilenceBytes} bytes without being asked`);
    }
    try {
      this.#buffer.append(chunk);
    } catch {
      return this.#flooded(`a message of more than ${maxMessageBytes} bytes`);
    }
    for (let found = next(this.#buffer); found !== undefined; found = next(this.#buffer)) {
      // A line that is no message is the server's chatter: it answers nothing.
      if (found !== "chatter") this.onmessage?.(found);
    }
  }

  #flooded(what: string): void {
    this.#trouble ??= new McpTroubleError("mcp-flooded", `wrote ${what}, and was ended`);
    this.#end("SIGKILL");
  }

  #closed(how: string): void {
    this.#ended = true;
    const said = this.#errors.trim() === "" ? "" : `; it said: ${this.#errors.trim()}`;
    this.#trouble ??= new McpTroubleError("mcp-ended", `ended with ${how}${said}`);
    this.onclose?.();
  }

  #end(signal: NodeJS.Signals): void {
    if (this.#child === undefined || this.#ended) return;
    killGroup(this.#child, signal);
    if (signal !== "SIGKILL") return;
    // Whoever left the group may still hold the pipes: nobody waits for that.
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}

function next(buffer: ReadBuffer): JSONRPCMessage | "chatter" | undefined {
  try {
    return buffer.readMessage() ?? undefined;
  } catch {
    return "chatter";
  }
}

/** Signals the process with its children: it leads a group of its own. */
function killGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (cause) {
    // The group has just gone.
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause;
  }
}

function notStarted(command: string, cause: unknown): McpTroubleError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  return new McpTroubleError(
    "mcp-not-started",
    `${command} does not start (${code}): expected a program that can be run`,
  );
}
