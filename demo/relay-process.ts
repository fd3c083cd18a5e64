/**
 * A relay as an operator runs it: its own process, started by the command line, on embedded
 * defaults. The demo kills it without warning and starts it again on the same folder and port.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

/** A running relay process. */
export interface RelayProcess {
  readonly url: string;
  readonly pid: number;
  /** SIGKILL: what a power cut looks like from outside. */
  readonly kill: () => Promise<void>;
  /** SIGTERM: drains and exits. */
  readonly stop: () => Promise<void>;
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/**
 * Starts a relay and waits for its ready line. `env` is added to its environment. Throws with its
 * stderr when it does not come up.
 */
export async function startRelayProcess(
  dataDir: string,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<RelayProcess> {
  const args = ["relay", "start", "--data-dir", dataDir, "--port", String(port)];
  const child = spawn(process.execPath, ["--import", "tsx", cli, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  const errors: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString("utf8")));
  const exited = once(child, "exit");
  const ready = await Promise.race([readyLine(child), exited.then(() => undefined)]);
  if (ready === undefined || child.pid === undefined) {
    throw new Error(`the relay did not start:\n${errors.join("")}`);
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    url: ready.url,
    pid: child.pid,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

async function readyLine(child: ChildProcess): Promise<{ readonly url: string } | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === "object" && parsed !== null && "ready" in parsed && "url" in parsed) {
      child.stdout.resume();
      return { url: String(parsed.url) };
    }
  }
  return undefined;
}
