/**
 * The relay as a bench loads it: the built program in a process of its own, on its embedded database
 * with every default but the rate limits, in a private folder. Also the database beside it, for what
 * only SQL can see, and accounts to write to.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { type Database, joinDatabase } from "../src/relay/db/client.ts";
import { createLog } from "../src/relay/log.ts";
import { toBase64Url } from "../src/shared/bytes.ts";
import { deviceState } from "../src/shared/crypto/device-list.ts";
import { entryFor, newDevice, nextList, type RelayAccount } from "../test/support/accounts.ts";
import { connectDevice, registerAccount } from "../test/support/relay.ts";

/** A relay process and its database. */
export interface RelayStage extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly origin: string;
  readonly pid: number;
  readonly database: Database;
  /** Of a relay that was started with --inspect. */
  readonly inspectorUrl: () => string;
}

/** How it differs from a plain start. */
export interface StageOptions {
  /** Arguments of Node itself, such as --cpu-prof. */
  readonly nodeWords?: readonly string[];
}

const program = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** Starts one; disposing stops it and removes its folder. */
export async function startStage({ nodeWords = [] }: StageOptions = {}): Promise<RelayStage> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "pixie-bench-"));
  const child = startRelayProcess(dataDir, nodeWords);
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (said.length < 10_000) said += chunk.toString("utf8");
  });
  const ready = await readyLine(child);
  const database = await joinDatabase({ dataDir, log: createLog({ level: "silent" }) });
  if (!database.ok) throw new Error(database.error.message);
  return {
    ...ready,
    origin: new URL(ready.url).origin,
    pid: child.pid ?? 0,
    database: database.value,
    inspectorUrl: () => {
      const url = /ws:\/\/\S+/.exec(said)?.[0];
      if (url === undefined) throw new Error("the relay was started without --inspect");
      return url;
    },
    [Symbol.asyncDispose]: async () => {
      await database.value.close();
      await stopProcess(child);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Starts the built relay on a folder; limits of rate are out of the way, everything else is default. */
export function startRelayProcess(
  dataDir: string,
  nodeWords: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeWords, program, "relay", "start"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: dataDir,
      PIXIE_RELAY_DATA_DIR: dataDir,
      PIXIE_RELAY_PORT: "0",
      PIXIE_RELAY_ADDRESS_REQUESTS_PER_MINUTE: "10000000",
      PIXIE_RELAY_MAILBOX_UPLOADS_PER_MINUTE: "10000000",
      PIXIE_RELAY_LOG_LEVEL: "error",
    },
  });
}

/** What the relay says when it is ready. */
export async function readyLine(
  child: ChildProcess,
): Promise<{ readonly url: string; readonly port: number }> {
  if (child.stdout === null) throw new Error("the relay has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const said: { event?: string; url?: string; port?: number } = JSON.parse(line);
    if (said.url !== undefined && said.port !== undefined) {
      child.stdout.resume();
      return { url: said.url, port: said.port };
    }
  }
  throw new Error("the relay ended before it was ready: is it built (npm run build)?");
}

/** Ends a process in its own time. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** Registers accounts of so many devices each. */
export function registerAccounts(
  stage: RelayStage,
  count: number,
  devices: number,
): Promise<readonly RelayAccount[]> {
  return Promise.all(Array.from({ length: count }, () => registerWith(stage, devices)));
}

async function registerWith(stage: RelayStage, devices: number): Promise<RelayAccount> {
  const nowMs = Date.now();
  const account = await registerAccount(stage, nowMs);
  const [first] = account.devices;
  if (first === undefined || devices === 1) return account;
  const added = Array.from({ length: devices - 1 }, () => newDevice());
  const entries = [
    entryFor(first, deviceState.admin, nowMs),
    ...added.map((device) => entryFor(device, deviceState.active, nowMs)),
  ];
  const list = nextList(account, entries);
  const connection = await connectDevice(stage, first);
  const reply = await connection.request({
    type: "update-device-list",
    expected_version: account.list.version,
    expected_hash: toBase64Url(account.list.hash),
    device_list: toBase64Url(list.record),
  });
  if (reply.error !== undefined) throw new Error(`device list: ${reply.error.message}`);
  await connection.cut();
  return { ...account, devices: [first, ...added], list };
}
