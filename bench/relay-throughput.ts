/**
 * relay-throughput: envelopes per second from a posted upload to its durable commit, over HTTP
 * keep-alive, each with a token that is verified, each to one device.
 *
 * Its limit is what the same server takes when the same rows are inserted in batches of 256, nothing
 * verified, numbered or counted; both are measured in turn in one run, on one embedded Postgres with
 * fsync on.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { startEmbedded } from "../src/relay/db/embedded.ts";
import { openDatabase } from "../src/relay/db/client.ts";
import type { Relay } from "../src/relay/index.ts";
import { createLog } from "../src/relay/log.ts";
import type { Sql } from "../src/relay/store/sql-values.ts";
import { dayOf } from "../src/shared/clock.ts";
import { systemRng } from "../src/shared/rng.ts";
import { type RelayAccount, uploadTo } from "../test/support/accounts.ts";
import { registerAccount, startRelay } from "../test/support/relay.ts";
import { type Bench, type BenchOptions, machineName, quantile } from "./bench.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";

const accounts = 200;
const connections = 256;
const batchRows = 256;

/** Submit to commit, against the database's own batch insert. */
export const relayThroughput: Bench = {
  name: "relay-throughput",
  run: async (options) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), "pixie-bench-"));
    const port = String(await freePort());
    const log = createLog({ level: "silent" });
    const settings = { listen_addresses: "127.0.0.1", port };
    const server = await startEmbedded({ dataDir, log, settings });
    if (!server.ok) throw new Error(server.error.message);
    try {
      await measure(`postgres://pixie@127.0.0.1:${port}/postgres`, options);
    } finally {
      await server.value.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

async function measure(databaseUrl: string, { quick, emit }: BenchOptions): Promise<void> {
  const rounds = quick ? 4 : 10;
  const uploadsPerRound = quick ? 6_000 : 9_000;
  await using relay = await startRelay({ databaseUrl });
  const opened = await openDatabase({
    databaseUrl,
    dataDir: "",
    log: createLog({ level: "silent" }),
    maxConnections: 1,
  });
  if (!opened.ok) throw new Error(opened.error.message);
  await using database = opened.value;
  // Structured clone: the uploads are bytes.
  const sender = fork(fileURLToPath(new URL("load-process.ts", import.meta.url)), {
    serialization: "advanced",
  });
  await once(sender, "message");
  const people = await Promise.all(
    Array.from({ length: accounts }, () => registerAccount(relay, Date.now())),
  );
  await createPeerTable(database.sql);
  const ours: number[] = [];
  const peer: number[] = [];
  // The first round warms both up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const uploads = uploadsFor(relay, people, uploadsPerRound);
    const sent = await post(sender, relay, uploads);
    const inserted = await insertDirectly(database.sql, uploadsPerRound);
    if (round === 0) continue;
    ours.push((uploadsPerRound / sent.elapsedMs) * 1_000);
    peer.push(inserted);
  }
  sender.kill();
  const [value, peerValue] = [quantile(ours, 0.5), quantile(peer, 0.5)];
  emit({
    bench: relayThroughput.name,
    value: Math.round(value),
    unit: "envelopes/s",
    samples: ours.length,
    median: Math.round(value),
    // The rate that 99 % of the rounds reached.
    p99: Math.round(quantile(ours, 0.01)),
    peer: "the same server's own batch insert of the same rows, 256 a statement",
    peerValue: Math.round(peerValue),
    ratio: Number((value / peerValue).toFixed(3)),
    machine: machineName(),
  });
}

function uploadsFor(
  relay: Relay,
  people: readonly RelayAccount[],
  count: number,
): readonly Uint8Array[] {
  const nowMs = Date.now();
  return Array.from({ length: count }, (_, index) => {
    const account = people[index % people.length];
    const device = account?.devices[0];
    if (account === undefined || device === undefined) throw new Error("no account to send to");
    return uploadTo(account, [device.mailbox], { origin: relay.origin, nowMs });
  });
}

async function post(
  sender: ChildProcess,
  relay: Relay,
  uploads: readonly Uint8Array[],
): Promise<LoadReport> {
  const order: LoadOrder = { port: relay.port, connections, uploads };
  const answered = once(sender, "message");
  sender.send(order);
  const [report]: LoadReport[] = await answered;
  if (report === undefined || Object.keys(report.failures).length > 0) {
    throw new Error(`not every upload was accepted: ${JSON.stringify(report?.failures)}`);
  }
  return report;
}

async function createPeerTable(sql: Sql): Promise<void> {
  await sql`create table bench_row (lane int, day int, mailbox uuid, seq bigint, slot uuid, header bytea, body bytea,
    primary key (lane, mailbox, day, seq), unique (lane, mailbox, day, slot))`;
  await sql`alter table bench_row alter header set storage external, alter body set storage external`;
  await sql`alter table bench_row set (toast_tuple_target = 4080)`;
}

function text(bytes: number): string {
  return Buffer.from(systemRng(bytes)).toString("base64");
}

async function insertDirectly(sql: Sql, rows: number): Promise<number> {
  const batches = Array.from({ length: Math.floor(rows / batchRows) }, () => ({
    headers: Array.from({ length: batchRows }, () => text(1_176)).join(","),
    bodies: Array.from({ length: batchRows }, () => text(1_072)).join(","),
  }));
  const day = dayOf(Date.now());
  const startMs = performance.now();
  for (const { headers, bodies } of batches) {
    await sql`insert into bench_row (lane, day, mailbox, seq, slot, header, body)
      select 0, ${day}::int, gen_random_uuid(), 1, gen_random_uuid(), decode(h, 'base64'), decode(b, 'base64')
      from unnest(string_to_array(${headers}, ','), string_to_array(${bodies}, ',')) as x(h, b)`;
  }
  return ((batches.length * batchRows) / (performance.now() - startMs)) * 1_000;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
