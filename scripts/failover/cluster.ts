/**
 * Two Postgres under Patroni in synchronous mode, with three etcd to elect by: who leads, and the ways
 * in which a leader fails.
 */
import { type ChildProcess, execFileSync } from "node:child_process";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import postgres from "postgres";

import type { Programs } from "./install.ts";
import { freePort, signalGroup, type Stage, until } from "./stage.ts";

/** A node's name. */
export type NodeName = "one" | "two";

/** The pair. */
export interface Cluster {
  /** For the relay: both hosts, primary only. */
  readonly url: string;
  readonly leader: () => NodeName;
  /** kill -9 of Postgres and Patroni together, as a machine dies. */
  readonly killNode: (name: NodeName) => void;
  readonly startNode: (name: NodeName) => void;
  /** Stops or continues Patroni alone; its Postgres goes on. */
  readonly freeze: (name: NodeName, isFrozen: boolean) => void;
  /** Waits until another node leads. `pause` runs between looks. */
  readonly otherLeads: (than: NodeName, pause: () => Promise<void>) => Promise<void>;
  /** Waits until both nodes are up and one is a synchronous standby. */
  readonly inSync: (pause: () => Promise<void>) => Promise<void>;
}

interface Node {
  readonly name: NodeName;
  readonly port: number;
  readonly restPort: number;
  readonly config: string;
  readonly data: string;
  patroni: ChildProcess | undefined;
}

const electionMs = 120_000;
/** The leader's lease, and how often it is renewed. Units: s. */
const ttl = 20;
const loopWait = 5;

/** Starts everything and waits until it replicates. */
export async function startCluster(stage: Stage, programs: Programs): Promise<Cluster> {
  const etcds = await startEtcd(stage, programs);
  const nodes = { one: await makeNode("one"), two: await makeNode("two") };
  let leading: NodeName = "one";

  async function makeNode(name: NodeName): Promise<Node> {
    const [port, restPort] = [await freePort(), await freePort()];
    const folder = path.join(stage.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    const node = { name, port, restPort, data: path.join(folder, "data"), patroni: undefined };
    const config = path.join(folder, "patroni.yml");
    writeFileSync(config, patroniConfig(node, programs, etcds));
    if (programs.user !== undefined) {
      for (const each of [folder, config]) chownSync(each, programs.user.uid, programs.user.gid);
    }
    return { ...node, config };
  }
  const startNode = (name: NodeName): void => {
    const node = nodes[name];
    const words = [programs.patroni, node.config];
    node.patroni = stage.start(`patroni-${name}`, words, { user: programs.user });
  };
  const lookForLeader = async (): Promise<boolean> => {
    for (const { name, restPort } of Object.values(nodes)) {
      const response = await ask(restPort, "/leader");
      if (response === 200) {
        leading = name;
        return true;
      }
    }
    return false;
  };
  const inSync: Cluster["inSync"] = (pause) =>
    until(
      "a synchronous standby",
      async () => {
        if (!(await lookForLeader())) return false;
        const other = leading === "one" ? nodes.two : nodes.one;
        return (await ask(other.restPort, "/synchronous")) === 200;
      },
      { withinMs: electionMs, pause },
    );

  startNode("one");
  await until("a first leader", lookForLeader, { withinMs: electionMs, pause }).catch((cause) => {
    throw new Error(stage.lastWords("patroni-one"), { cause });
  });
  startNode("two");
  await inSync(pause);
  const { one, two } = nodes;
  const hosts = `127.0.0.1:${one.port},127.0.0.1:${two.port}`;
  await createDatabase(`postgres://postgres@${hosts}/postgres?target_session_attrs=primary`);
  return {
    url: `postgres://postgres@${hosts}/pixie?target_session_attrs=primary`,
    leader: () => leading,
    killNode: (name) => {
      const pid = postmasterOf(nodes[name]);
      const { patroni } = nodes[name];
      if (patroni !== undefined) signalGroup(patroni, "SIGKILL");
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    },
    startNode,
    freeze: (name, isFrozen) => void nodes[name].patroni?.kill(isFrozen ? "SIGSTOP" : "SIGCONT"),
    otherLeads: (than, between) =>
      until("another leader", async () => (await lookForLeader()) && leading !== than, {
        withinMs: electionMs,
        pause: between,
      }),
    inSync,
  };
}

const pause = (): Promise<void> => delay(500);

async function startEtcd(stage: Stage, { etcd }: Programs): Promise<readonly number[]> {
  const members = await Promise.all(
    ["a", "b", "c"].map(async (name) => ({
      name,
      client: await freePort(),
      peer: await freePort(),
    })),
  );
  const initial = members.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(",");
  for (const { name, client, peer } of members) {
    const [clients, peers] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
    const words = `--name ${name} --data-dir ${stage.folder}/etcd-${name} --initial-cluster ${initial}`;
    const clientWords = `--listen-client-urls ${clients} --advertise-client-urls ${clients}`;
    const peerWords = `--listen-peer-urls ${peers} --initial-advertise-peer-urls ${peers}`;
    stage.start(`etcd-${name}`, [etcd, ...`${words} ${clientWords} ${peerWords}`.split(" ")]);
  }
  return members.map(({ client }) => client);
}

function patroniConfig(
  { name, port, restPort, data }: Omit<Node, "config">,
  { postgres: binaries }: Programs,
  etcds: readonly number[],
): string {
  // wal_keep_size: or a leader that was away cannot rewind.
  return JSON.stringify({
    scope: "pixie",
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: etcds.map((client) => `127.0.0.1:${client}`) },
    bootstrap: {
      dcs: {
        ttl,
        loop_wait: loopWait,
        retry_timeout: 5,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { wal_keep_size: "1GB", max_connections: 60, wal_log_hints: "on" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: binaries,
      pgpass: path.join(path.dirname(data), "pgpass"),
      authentication: {
        superuser: { username: "postgres" },
        replication: { username: "replicator" },
        rewind: { username: "postgres" },
      },
      parameters: { unix_socket_directories: path.dirname(data), fsync: "on" },
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
    },
  });
}

async function createDatabase(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`create database pixie`;
  await sql.end();
}

function postmasterOf({ data }: Node): number | undefined {
  const first = execFileSync("head", ["-1", path.join(data, "postmaster.pid")], {
    encoding: "utf8",
  });
  const pid = Number(first);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

async function ask(port: number, target: string): Promise<number> {
  try {
    const signal = AbortSignal.timeout(1_000);
    return (await fetch(`http://127.0.0.1:${port}${target}`, { signal })).status;
  } catch {
    // Dead, frozen, or not there yet.
    return 0;
  }
}
