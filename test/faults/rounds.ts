/**
 * Rounds of faults: load on relay processes, something is killed, everything comes back, and at the
 * end the history is checked. One seed decides what is sent and killed, though not what races.
 */
import { readFileSync, rmSync, chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import postgres from "postgres";

import { freePort, type RelayProcess, startRelayProcess } from "../../demo/relay-process.ts";
import { deviceState } from "../../src/shared/crypto/device-list.ts";
import { toBase64Url } from "../../src/shared/bytes.ts";
import { randomFraction } from "../../src/shared/rng.ts";
import {
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  registrationOf,
  type RelayAccount,
} from "../support/accounts.ts";
import { connectDevice, postJson, type RelayAddress } from "../support/relay.ts";
import { seededRng } from "../support/seeded-rng.ts";
import { History } from "./history.ts";
import { startKillableDatabase } from "./killable-database.ts";
import { keepConnected, pause, sendSteadily } from "./load.ts";

/** What is done to a relay in a round. */
export type Fault = "kill-relay" | "kill-database" | "kill-backends" | "restart-relays";

/** What to run. */
export interface FaultPlan {
  readonly store: "embedded" | "external";
  /** Relay processes on one database; more than one needs an external one. */
  readonly relays: number;
  readonly faults: readonly Fault[];
  readonly rounds: number;
  readonly seed: number;
  /** No new round begins after this. Units: ms. */
  readonly boundMs: number;
  readonly onRound?: (round: number, fault: Fault) => void;
}

/** What came of it. */
export interface FaultOutcome {
  readonly rounds: number;
  readonly accepted: number;
  readonly arrivals: number;
  readonly violations: readonly string[];
}

/** Longest wait for everything to come to rest after the last fault. Units: ms. */
const settleMs = 60_000;

/** Runs it. Undefined where the store cannot be had on this machine. */
export async function runFaults(plan: FaultPlan): Promise<FaultOutcome | undefined> {
  await using place = await openPlace(plan);
  if (place === undefined) return undefined;
  const rng = seededRng(`faults ${plan.seed}`);
  const history = new History();
  const people = [];
  for (const devices of [1, 3, 1]) people.push(await register(place.first(), devices));
  const world = { addresses: place.addresses, history, rng };
  const devices = people.flatMap((person) =>
    person.devices.map((device) => keepConnected(device, world)),
  );
  const stop = new AbortController();
  const giveUp = new AbortController();
  const signals = { stop: stop.signal, giveUp: giveUp.signal };
  const senders = people.flatMap((person) => [
    sendSteadily(person, { ...world, ...signals }),
    sendSteadily(person, { ...world, ...signals }),
  ]);
  const failed = Promise.all(senders);
  const until = performance.now() + plan.boundMs;
  let round = 0;
  for (; round < plan.rounds && performance.now() < until; round++) {
    const fault = plan.faults[round % plan.faults.length] ?? "kill-relay";
    await Promise.race([pause(150 + 350 * randomFraction(rng)), failed]);
    await place.commit(fault);
    plan.onRound?.(round + 1, fault);
  }
  stop.abort();
  const patience = setTimeout(() => giveUp.abort(), settleMs);
  await failed;
  clearTimeout(patience);
  await Promise.race([
    Promise.all(devices.map((device) => device.emptied())),
    pause(settleMs).then(() => Promise.reject(new Error("devices were not drained in time"))),
  ]);
  await Promise.all(devices.map((device) => device.close()));
  return {
    rounds: round,
    accepted: history.acceptedCount,
    arrivals: history.arrivalCount,
    violations: history.violations(),
  };
}

interface Place extends AsyncDisposable {
  readonly addresses: () => readonly RelayAddress[];
  readonly first: () => RelayAddress;
  readonly commit: (fault: Fault) => Promise<void>;
}

async function openPlace(plan: FaultPlan): Promise<Place | undefined> {
  const database = plan.store === "external" ? await startKillableDatabase() : undefined;
  if (plan.store === "external" && database === undefined) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-faults-"));
  chmodSync(folder, 0o755);
  const dataDir = path.join(folder, "relay");
  // All processes are one relay to clients: what they sign is its public address.
  const origin = "http://relay.example";
  const env = {
    PIXIE_RELAY_PUBLIC_URL: origin,
    PIXIE_RELAY_ADDRESS_REQUESTS_PER_MINUTE: "10000000",
    PIXIE_RELAY_MAILBOX_UPLOADS_PER_MINUTE: "10000000",
    PIXIE_RELAY_STORAGE_RESERVE_MB: "0",
    PIXIE_RELAY_LOG_LEVEL: "silent",
    ...(database === undefined ? {} : { DATABASE_URL: database.url }),
  };
  const ports = await Promise.all(Array.from({ length: plan.relays }, () => freePort()));
  const running: (RelayProcess | undefined)[] = [];
  for (const [at, port] of ports.entries())
    running[at] = await startRelayProcess(dataDir, port, env);

  const replace = async (at: number, how: "kill" | "stop"): Promise<void> => {
    const port = ports[at] ?? 0;
    await running[at]?.[how]();
    running[at] = undefined;
    running[at] = await startRelayProcess(dataDir, port, env);
  };
  const acts: Readonly<Record<Fault, () => Promise<void>>> = {
    "kill-relay": () => replace(0, "kill"),
    "restart-relays": async () => {
      for (const at of ports.keys()) await replace(at, "stop");
    },
    "kill-database": async () => {
      if (database !== undefined) await database.killAndRestart();
      else process.kill(embeddedServer(dataDir), "SIGKILL");
    },
    "kill-backends": () => killBackends(database?.url ?? ""),
  };
  return {
    addresses: () => ports.map((port) => ({ url: `http://127.0.0.1:${port}`, origin })),
    first: () => ({ url: `http://127.0.0.1:${ports[0] ?? 0}`, origin }),
    commit: (fault) => acts[fault](),
    [Symbol.asyncDispose]: async () => {
      for (const relay of running) await relay?.stop();
      await database?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The embedded server's process, as its own lock file names it. */
function embeddedServer(dataDir: string): number {
  const file = path.join(dataDir, "postgres-18", "postmaster.pid");
  return Number(readFileSync(file, "utf8").split("\n")[0]);
}

async function killBackends(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'pixie-relay' and pid <> pg_backend_pid()`;
  await sql.end();
}

/** Registers an account, and adds devices to it as its first device does. */
async function register(relay: RelayAddress, count: number): Promise<RelayAccount> {
  const nowMs = Date.now();
  const account = newAccount(nowMs);
  const answer = await postJson(
    relay,
    "/v1/accounts",
    registrationOf(account, relay.origin, nowMs),
  );
  if (answer.status !== 201) throw new Error(`registration: ${JSON.stringify(answer)}`);
  const [first] = account.devices;
  if (first === undefined || count === 1) return account;
  const added = Array.from({ length: count - 1 }, () => newDevice());
  const entries = added.map((device) => entryFor(device, deviceState.active, nowMs));
  const list = nextList(account, [...account.list.entries, ...entries]);
  const connection = await connectDevice(relay, first);
  const reply = await connection.request({
    type: "update-device-list",
    expected_version: account.list.version,
    expected_hash: toBase64Url(account.list.hash),
    device_list: toBase64Url(list.record),
  });
  if (reply.error !== undefined) throw new Error(`device list: ${reply.error.message}`);
  await connection.cut();
  const grown = { ...account, devices: [first, ...added], list };
  for (const device of added) {
    const own = await connectDevice(relay, device);
    const prekey = toBase64Url(prekeyFor(grown, device, nowMs).record);
    await own.request({ type: "publish-prekey", prekey });
    await own.cut();
  }
  return grown;
}
