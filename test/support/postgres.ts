/**
 * Databases for tests: a fresh, migrated one per call, copied from a template (20 ms) on a cluster
 * that the whole run shares. Suites that are a contract of the store run on every store there is:
 *
 *     describe.each(testStores())("mailbox on $name", ({ open }) => { … const db = await open(); … db.drop() });
 */
import { randomBytes } from "node:crypto";

import postgres from "postgres";
import { inject } from "vitest";

import { openDatabase, type Database } from "../../src/relay/db/client.ts";
import { createLog } from "../../src/relay/log.ts";
import type { StoreName } from "./clusters.ts";
import type { ClusterReply } from "./global-setup.ts";

/** A database of one's own. */
export interface TestDatabase extends AsyncDisposable {
  /** For `databaseUrl` of a relay's configuration. */
  readonly url: string;
  readonly database: Database;
  readonly sql: postgres.Sql;
  /** Closes the pool and drops the database, whoever is still connected. */
  readonly drop: () => Promise<void>;
}

/** A store that contract suites run on. */
export interface TestStore {
  readonly name: StoreName;
  readonly open: () => Promise<TestDatabase>;
}

/** Every store of this run: the embedded Postgres, and an external one where it was found. */
export function testStores(): readonly TestStore[] {
  return inject("testStoreNames").map((name) => ({ name, open: () => openTestDatabase(name) }));
}

/** A fresh database with today's schema and no partitions. */
export async function openTestDatabase(store: StoreName = "embedded"): Promise<TestDatabase> {
  const { url, drop } = await createTestDatabase(store, "template");
  const opened = await openDatabase({
    databaseUrl: url,
    dataDir: "",
    log: createLog({ level: "silent" }),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const database = opened.value;
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { url, database, sql: database.sql, drop: close, [Symbol.asyncDispose]: close };
}

/** A database that nobody has opened yet: empty, or a copy of the migrated template. */
export async function createTestDatabase(
  store: StoreName,
  content: "empty" | "template",
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const cluster = await askCluster(store);
  const name = `test_${randomBytes(8).toString("hex")}`;
  await withAdmin(cluster.url, (admin) =>
    content === "empty"
      ? admin`create database ${admin(name)}`
      : admin`create database ${admin(name)} template ${admin(cluster.template)}`,
  );
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () =>
      withAdmin(cluster.url, (admin) => admin`drop database if exists ${admin(name)} with (force)`),
  };
}

async function withAdmin(
  url: string,
  run: (admin: postgres.Sql) => Promise<unknown>,
): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await run(admin);
  } finally {
    await admin.end();
  }
}

async function askCluster(store: StoreName): Promise<ClusterReply> {
  const response = await fetch(`${inject("testStoreBroker")}/${store}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`no ${store} cluster: ${text}`);
  const reply: unknown = JSON.parse(text);
  if (typeof reply === "object" && reply !== null && "url" in reply && "template" in reply) {
    return { url: String(reply.url), template: String(reply.template) };
  }
  throw new Error(`the broker answered ${text}`);
}
