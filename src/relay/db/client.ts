/**
 * Opens the relay's database: an external Postgres when there is a URL, the embedded one otherwise
 * (never one instead of the other), checks it, migrates it, and hands out one pool.
 *
 * Running paths use single autocommit statements only: `postgres` 3.4.9 throws an uncatchable
 * TypeError when a backend dies inside `sql.begin()`. Transactions belong to migrations, which have
 * a connection of their own.
 *
 * int8 columns arrive as numbers; one beyond ±(2^53 − 1) throws instead of rounding. `sum()` and
 * other numerics arrive as text: cast them (`::int8`). bytea arrives as Buffer.
 */
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

import postgres from "postgres";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import { clusterFolder, embeddedDatabase, embeddedRole } from "./cluster.ts";
import type { DatabaseError } from "./database-error.ts";
import { startEmbedded, type EmbeddedServer } from "./embedded.ts";
import {
  checkSchema,
  landedMigrations,
  migrateDatabase,
  type MigrationOutcome,
} from "./migrate.ts";
import {
  type ConnectionEvents,
  type NotificationOptions,
  type Notifications,
  openNotifications,
} from "./notifications.ts";
import { servingSocket } from "./orphan.ts";
import { readFacts, type ServerFacts } from "./server-facts.ts";

/** An open, migrated database. Its owner closes it; an embedded server stops with it. */
export interface Database extends AsyncDisposable {
  readonly sql: postgres.Sql;
  /** Connections beside the pool that plan each statement once. For those that no plan can spoil. */
  readonly planOnce: postgres.Sql;
  readonly kind: "embedded" | "external";
  /** As the server says it: "18.4". */
  readonly serverVersion: string;
  readonly schema: MigrationOutcome;
  /** Hears from other processes, on a connection beside the pool. Closed by whoever opened it. */
  readonly listen: (options: Omit<NotificationOptions, "connect">) => Notifications;
  readonly close: () => Promise<void>;
}

/** How to open the database. */
export interface DatabaseOptions {
  /** Where an external Postgres is; without it the embedded one is used. */
  readonly databaseUrl?: string | undefined;
  readonly dataDir: string;
  readonly log: Logger;
  /** Connections of the pool; 4 by default. */
  readonly maxConnections?: number | undefined;
  /** False: refuse an outdated schema instead of migrating it. `later`: any, none included. True by default. */
  readonly migrate?: boolean | "later" | undefined;
}

interface Prepared extends ServerFacts {
  readonly schema: MigrationOutcome;
}

type Target = { readonly url: string } | { readonly socketFolder: string };

const defaultConnections = 4;
/** Opens the database. Errors: every `DatabaseError`; nothing stays open then. */
export async function openDatabase(
  options: DatabaseOptions,
): Promise<Result<Database, DatabaseError>> {
  if (options.databaseUrl !== undefined) return openPool({ url: options.databaseUrl }, options);
  const server = await startEmbedded({ dataDir: options.dataDir, log: options.log });
  if (!server.ok) return server;
  const pool = await openPool({ socketFolder: server.value.socketFolder }, options, server.value);
  if (!pool.ok) await server.value.stop();
  return pool;
}

/**
 * Opens the database beside a relay that may be running: its own embedded server is joined rather than
 * refused. Errors: as `openDatabase`.
 */
export async function joinDatabase(
  options: DatabaseOptions,
): Promise<Result<Database, DatabaseError>> {
  const folder = path.resolve(options.dataDir);
  const cluster = existsSync(folder) ? clusterFolder(realpathSync(folder)) : undefined;
  const socketFolder = cluster === undefined ? undefined : servingSocket(cluster);
  return options.databaseUrl === undefined && socketFolder !== undefined
    ? openPool({ socketFolder }, { ...options, migrate: options.migrate === "later" && "later" })
    : openDatabase(options);
}

async function openPool(
  target: Target,
  options: DatabaseOptions,
  server?: EmbeddedServer,
): Promise<Result<Database, DatabaseError>> {
  const prepared = await prepareServer(target, options);
  if (!prepared.ok) return prepared;
  // A server may be set to forget commits; "accepted" must not depend on that.
  const forced = prepared.value.synchronousCommit === "off" ? { synchronous_commit: "on" } : {};
  const max = options.maxConnections ?? defaultConnections;
  const sql = connect(target, { max, connection: { ...sessionSettings, ...forced } });
  const planOnce = connect(target, { max, connection: { ...planOnceSettings, ...forced } });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= Promise.all([sql.end({ timeout: 5 }), planOnce.end({ timeout: 5 })]).then(
      async () => {
        await server?.stop();
      },
    ));
  return ok({
    sql,
    planOnce,
    kind: server === undefined ? "external" : "embedded",
    serverVersion: prepared.value.version,
    schema: prepared.value.schema,
    listen: (listening) =>
      openNotifications({ ...listening, connect: (events) => connectOne(target, events) }),
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** Checks and migrates on a connection of its own, which is closed again. */
async function prepareServer(
  target: Target,
  options: DatabaseOptions,
): Promise<Result<Prepared, DatabaseError>> {
  let sql: postgres.Sql;
  try {
    sql = connect(target, { max: 1, connection: sessionSettings });
  } catch {
    // The driver's own text quotes nothing useful, and its cause holds the password.
    return err({
      type: "unreachable",
      message:
        "DATABASE_URL is no URL: expected postgres://user:password@host:port/database, with special characters of the password encoded (# as %23, @ as %40, / as %2F)",
    });
  }
  try {
    const facts = await readFacts(sql, options.log);
    if (!facts.ok) return facts;
    const schema = await settleSchema(sql, options.migrate);
    if (!schema.ok) return schema;
    options.log.info({ schema: schema.value, server: facts.value.version }, "database ready");
    return ok({ ...facts.value, schema: schema.value });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function settleSchema(
  sql: postgres.Sql,
  migrate: DatabaseOptions["migrate"],
): Promise<Result<MigrationOutcome, DatabaseError>> {
  if (migrate === "later") return ok({ applied: 0, version: (await landedMigrations(sql)).length });
  return migrate === false ? checkSchema(sql) : migrateDatabase(sql);
}

/**
 * Set on every connection. Without custom plans, an acknowledgement written as one join and prepared on
 * an empty table was planned as a sequential one and ran for 75 s once the table had grown.
 */
const sessionSettings = {
  application_name: "pixie-relay",
  search_path: "public",
  plan_cache_mode: "force_custom_plan",
};

/**
 * A plan made on empty tables is kept: whatever has an index is to be read by it from the beginning.
 */
const planOnceSettings = {
  ...sessionSettings,
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
};

interface ConnectSettings extends Partial<ConnectionEvents> {
  readonly max: number;
  readonly connection: Record<string, string>;
  /** Null: a connection is never replaced for its age. Units: s. */
  readonly max_lifetime?: null;
}

function connectOne(target: Target, events: ConnectionEvents): postgres.Sql {
  return connect(target, { max: 1, max_lifetime: null, connection: sessionSettings, ...events });
}

function connect(target: Target, settings: ConnectSettings): postgres.Sql {
  const types: Record<string, postgres.PostgresType> = { bigint: safeInteger };
  // fetch_types: the driver would ask for array types on every new connection, and a backend that dies
  // during that query ends the process (unhandled 57P01). Arrays are passed as text literals instead.
  const common = {
    ...settings,
    types,
    fetch_types: false,
    connect_timeout: 10,
    backoff: reconnectSeconds,
    onnotice: () => {},
  };
  if ("url" in target) return postgres(target.url, common);
  // Everything is said: the driver would fill gaps from PGPORT, PGPASSWORD and their kin.
  return postgres({
    ...common,
    path: path.join(target.socketFolder, ".s.PGSQL.5432"),
    host: "localhost",
    port: 5432,
    user: embeddedRole,
    database: embeddedDatabase,
    pass: "",
    ssl: false,
  });
}

/** The driver's own grows to 20 s, which a failover of 20 s would wait for once more. Units: s. */
function reconnectSeconds(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(0.02 * 2 ** failures, 1);
}

const safeInteger: postgres.PostgresType<number> = {
  to: 20,
  from: [20],
  serialize: (value) => String(value),
  parse: (raw: string) => {
    const value = Number(raw);
    if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${raw} does not fit a number`);
    return value;
  },
};
