/**
 * Database clusters for one test run: the embedded Postgres always, and an external one of another
 * major version where it can be had. Started at most once, by the process that runs the suite.
 *
 * fsync is off: these clusters are thrown away. Crash tests start their own, with it on.
 */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { openDatabase } from "../../src/relay/db/client.ts";
import { startEmbedded } from "../../src/relay/db/embedded.ts";
import { serverUser } from "../../src/relay/db/embedded-user.ts";
import { createLog } from "../../src/relay/log.ts";

/** Which kind of Postgres a suite runs on. */
export type StoreName = "embedded" | "external";

/** A running cluster: where it is, and how to end it. */
export interface TestCluster {
  /** URL of its maintenance database. */
  readonly url: string;
  /** For the line at the end of the run. */
  readonly label: string;
  readonly stop: () => Promise<void>;
}

/** A way to have an external Postgres, found without starting anything. */
export interface ExternalSource {
  readonly label: string;
  readonly start: () => Promise<TestCluster>;
}

const log = createLog({ level: "silent" });

/** A temporary folder in which an unprivileged server can work, too. */
function clusterFolderPath(): string {
  return mkdtempSync(path.join(tmpdir(), "pixie-test-"));
}

/** Starts the embedded Postgres on a loopback port. */
export async function startEmbeddedCluster(): Promise<TestCluster> {
  const dataDir = clusterFolderPath();
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    fsync: "off",
    max_connections: "100",
  };
  const server = await startEmbedded({ dataDir, log, settings });
  if (!server.ok) throw new Error(server.error.message);
  return {
    url: `postgres://pixie@127.0.0.1:${port}/postgres`,
    label: "embedded Postgres",
    stop: async () => {
      await server.value.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The first of: a URL in the environment, a Docker engine that answers, an installed Postgres. */
export async function findExternal(): Promise<ExternalSource | undefined> {
  const url = process.env["PIXIE_TEST_DATABASE_URL"];
  if (url !== undefined) {
    return {
      label: "external Postgres (PIXIE_TEST_DATABASE_URL)",
      start: () =>
        Promise.resolve({
          url,
          label: "external Postgres (PIXIE_TEST_DATABASE_URL)",
          stop: () => Promise.resolve(),
        }),
    };
  }
  if (await dockerAnswers())
    return { label: "external Postgres (container)", start: startContainer };
  const folder = systemBinaries();
  if (folder === undefined) return undefined;
  return { label: "external Postgres (installed)", start: () => startSystem(folder) };
}

/** Migrates the template from which every test database is copied. */
export async function prepareTemplate(url: string): Promise<string> {
  const opened = await openDatabase({ databaseUrl: url, dataDir: "", log, maxConnections: 2 });
  if (!opened.ok) throw new Error(opened.error.message);
  const version = opened.value.serverVersion;
  await opened.value.close();
  return version;
}

async function startContainer(): Promise<TestCluster> {
  const { GenericContainer, Wait } = await import("testcontainers");
  const container = await new GenericContainer("postgres:17-alpine")
    .withEnvironment({ POSTGRES_USER: "pixie", POSTGRES_PASSWORD: "pixie" })
    .withCommand(["postgres", "-c", "fsync=off"])
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  return {
    url: `postgres://pixie:pixie@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    label: "external Postgres (container)",
    stop: async () => {
      await container.stop();
    },
  };
}

function dockerAnswers(): Promise<boolean> {
  const host = process.env["DOCKER_HOST"];
  const tcp = host?.startsWith("tcp://") === true ? new URL(host) : undefined;
  const socket =
    tcp === undefined
      ? connect(host?.replace("unix://", "") ?? "/var/run/docker.sock")
      : connect(Number(tcp.port), tcp.hostname);
  return new Promise((resolve) => {
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
    socket.on("data", (reply) => {
      resolve(reply.toString("latin1").startsWith("HTTP/1.1 200"));
      socket.destroy();
    });
    socket.write("GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n");
  });
}

/** Where an installed Postgres has its programs. Debian's and Homebrew's places; the oldest supported major, as it differs most from the embedded. */
export function systemBinaries(): string | undefined {
  const found = [
    ["/usr/lib/postgresql", /^(\d+)$/],
    ["/opt/homebrew/opt", /^postgresql@(\d+)$/],
    ["/usr/local/opt", /^postgresql@(\d+)$/],
  ] as const;
  return found
    .flatMap(([base, pattern]) =>
      (existsSync(base) ? readdirSync(base) : []).flatMap((name) => {
        const major = Number(pattern.exec(name)?.[1] ?? 0);
        const folder = path.join(base, name, "bin");
        return major >= 15 && existsSync(path.join(folder, "initdb")) ? [{ major, folder }] : [];
      }),
    )
    .toSorted((a, b) => a.major - b.major)[0]?.folder;
}

async function startSystem(binaries: string): Promise<TestCluster> {
  const folder = clusterFolderPath();
  const data = path.join(folder, "data");
  const user = serverUser(data);
  if (!user.ok) throw new Error(user.error.message);
  if (user.value !== undefined) chownSync(folder, user.value.uid, user.value.gid);
  const port = await freePort();
  const run = (program: string, words: readonly string[]): void => {
    execFileSync(path.join(binaries, program), words, {
      ...user.value,
      cwd: folder,
      stdio: "ignore",
      env: { LC_ALL: "C" },
    });
  };
  run("initdb", [
    "-D",
    data,
    "-U",
    "pixie",
    "--auth=trust",
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ]);
  const settings = `-k ${folder} -p ${port} -c listen_addresses=127.0.0.1 -c fsync=off`;
  run("pg_ctl", ["-D", data, "-l", path.join(folder, "log"), "-o", settings, "-w", "start"]);
  return {
    url: `postgres://pixie@127.0.0.1:${port}/postgres`,
    label: "external Postgres (installed)",
    stop: () => {
      run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === "object" && address !== null) resolve(address.port);
        else reject(new Error("the system gave no port"));
      });
    });
  });
}
