/**
 * Public entry of the relay: `createRelay()` opens the database, wires the app and listens. A process
 * around it (signals, ready line, exit codes) is main.ts; tests and the demo use this directly.
 */
import { type Clock, systemClock } from "../shared/clock.ts";
import { parseRelayOrigin } from "../shared/crypto/origin.ts";
import { err, ok, type Result } from "../shared/result.ts";
import { type AdminListener, openAdminListener } from "./admin/listener.ts";
import { adminPages } from "./admin/pages.ts";
import { findPortHolder } from "./admin/port-holder.ts";
import { createRelayApp, type RelayApp } from "./app.ts";
import { isLoopback, type RelayConfig } from "./config.ts";
import { type Database, openDatabase } from "./db/client.ts";
import type { RelayStartError } from "./errors.ts";
import { createLog, type Logger } from "./log.ts";
import { failureCode } from "./store/failure.ts";
import { readRelayState } from "./store/relay-state.ts";

export type { RelayConfig } from "./config.ts";
export { defaultConfig } from "./config-settings.ts";
export type { RelayStartError } from "./errors.ts";

/** A running relay. */
export interface Relay extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string;
  /** What clients sign: the origin of the configured public URL, or of `url`. */
  readonly origin: string;
  readonly port: number;
  /** Where metrics and health are served for the operator. */
  readonly adminUrl: string;
  /** Changes when the database was restored from a backup. */
  readonly epoch: string;
  readonly database: Pick<Database, "kind" | "serverVersion">;
  /** Says goodbye to connections, finishes what was accepted, within `drainMs`. */
  readonly close: () => Promise<void>;
}

/** How to create one. */
export interface RelayOptions {
  readonly config: RelayConfig;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Starts a relay. Errors: nothing stays open then. */
export async function createRelay(options: RelayOptions): Promise<Result<Relay, RelayStartError>> {
  const { config, clock = systemClock } = options;
  const log = options.log ?? createLog({ level: config.logLevel });
  const configured = config.publicUrl === undefined ? ok("") : parseRelayOrigin(config.publicUrl);
  if (!configured.ok) {
    return err({ type: "public-url", message: `public_url: ${configured.error.reason}` });
  }
  const opened = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log,
    maxConnections: config.databaseConnections,
    migrate: config.databaseMigrate,
  });
  if (!opened.ok) {
    return err({ type: "database", message: opened.error.message, cause: opened.error });
  }
  const database = opened.value;
  const started = await startApp({ config, clock, log }, database);
  if (!started.ok) {
    await database.close();
    return started;
  }
  const { app, epoch } = started.value;
  const listening = await listen(app, config);
  if (!listening.ok) {
    await closeAll(app, database, { clock, drainMs: 0 });
    return listening;
  }
  const { url, port } = listening.value;
  const admin = await listenForOperator(app, config, clock);
  if (!admin.ok) {
    await closeAll(app, database, { clock, drainMs: 0 });
    return admin;
  }
  const origin = configured.value === "" ? new URL(url).origin : configured.value;
  app.setOrigin(origin);
  log.info({ port, database: database.kind }, "relay ready");
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= closeAll(app, database, { clock, drainMs: config.drainMs }, admin.value));
  const { kind, serverVersion } = database;
  return ok({
    url,
    origin,
    port,
    adminUrl: admin.value.url,
    epoch,
    database: { kind, serverVersion },
    close,
    [Symbol.asyncDispose]: close,
  });
}

async function startApp(
  { config, clock, log }: Required<RelayOptions>,
  { sql, planOnce, kind, listen: listenToOthers }: Database,
): Promise<Result<{ readonly app: RelayApp; readonly epoch: string }, RelayStartError>> {
  try {
    const state = await readRelayState(sql);
    // The embedded database belongs to this process alone.
    const others = kind === "embedded" ? undefined : listenToOthers;
    const app = await createRelayApp({ config, sql, planOnce, listen: others, state, clock, log });
    try {
      await app.watchStorage();
      await app.expiry.start();
    } catch (cause) {
      await app.close();
      throw cause;
    }
    return ok({ app, epoch: state.epoch });
  } catch (cause) {
    const message = `the database failed while the relay started (${failureCode(cause)})`;
    return err({ type: "database-failed", message });
  }
}

async function listen(
  app: RelayApp,
  { host, port }: RelayConfig,
): Promise<Result<{ readonly url: string; readonly port: number }, RelayStartError>> {
  try {
    const address = new URL(await app.http.listen({ host, port }));
    const bound = Number(address.port);
    const name = host.includes(":") ? `[${host}]` : host;
    return ok({ url: `http://${name}:${bound}`, port: bound });
  } catch (cause) {
    return err(listenError(cause, { host, port, settings: ["host", "port"] }));
  }
}

async function listenForOperator(
  app: RelayApp,
  { adminHost: host, adminPort: port }: RelayConfig,
  clock: Clock,
): Promise<Result<AdminListener, RelayStartError>> {
  const opened = await openAdminListener({
    host,
    port,
    isLoopback: isLoopback(host),
    pages: adminPages({
      scrape: app.scrape,
      readiness: app.readiness,
      probes: app.probes.list,
      clock,
    }),
  });
  if (opened.ok) return opened;
  const settings = ["admin_host", "admin_port"] as const;
  return err(listenError(opened.error.cause, { host, port, settings }));
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly settings: readonly [host: string, port: string];
}

function listenError(
  cause: unknown,
  { host, port, settings: [hostName, portName] }: Address,
): RelayStartError {
  const code = failureCode(cause);
  const holder = code === "EADDRINUSE" ? findPortHolder(port) : undefined;
  const who = holder === undefined ? "another program" : `pid ${holder.pid} (${holder.command})`;
  const advice =
    code === "EADDRINUSE"
      ? `${who} listens there: stop it or set another ${portName}`
      : `check ${hostName} and ${portName}`;
  return {
    type: "listen",
    code,
    message: `cannot listen on ${host}:${port} (${code}): ${advice}`,
  };
}

async function closeAll(
  app: RelayApp,
  database: Database,
  { clock, drainMs }: { readonly clock: Clock; readonly drainMs: number },
  admin?: AdminListener,
): Promise<void> {
  // Requests that do not end in time are cut; their senders try again with the same slot.
  const cancel = clock.schedule(drainMs, () => app.http.server.closeAllConnections());
  await app.http.close();
  cancel();
  // To the end of the drain an operator can see how it goes.
  await admin?.close();
  await app.close();
  await database.close();
}
