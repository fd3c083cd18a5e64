/**
 * Composition root of the relay: ties store, delivery and the two edges together over one open
 * database. It decides nothing; every rule lives in the part that it wires.
 */
import type { Clock } from "../shared/clock.ts";
import { originHash } from "../shared/crypto/origin.ts";
import { systemRng } from "../shared/rng.ts";
import type { RelayConfig } from "./config.ts";
import type { Database } from "./db/client.ts";
import { freeBytesUnder } from "./db/free-space.ts";
import { createBatcher } from "./delivery/batcher.ts";
import { createExpiry, type Expiry } from "./delivery/expire.ts";
import { createOpenStream } from "./delivery/open-stream.ts";
import { createRateLimit } from "./delivery/rate-limit.ts";
import { createRecipients, type Recipients } from "./delivery/recipients.ts";
import { createStoragePressure, type StoragePressure } from "./delivery/storage-pressure.ts";
import { createWakeups, type Wakeups } from "./delivery/wakeup.ts";
import { delivering } from "./counted.ts";
import { createClientAddress } from "./http/client-address.ts";
import type { RelayHttp } from "./http/replies.ts";
import { createHttpServer } from "./http/server.ts";
import { addHttpRoutes, type RouteParts } from "./http-routes.ts";
import { createLanes } from "./lanes.ts";
import type { Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { joinNeighbourhood, type Neighbourhood } from "./neighbourhood.ts";
import { createProbes, type Probes } from "./probes.ts";
import { after, inTime, readReadiness, type Readiness, withinBound } from "./readiness.ts";
import { createKeyPorts, createRequestPorts } from "./request-ports.ts";
import { purgeRetiredKeys } from "./store/access-keys.ts";
import { findRecipients, type Recipient } from "./store/accounts.ts";
import { findDevice } from "./store/devices.ts";
import { readDatabaseHealth } from "./store/database-health.ts";
import { dropDaysBefore, ensureDays, expireItems, purgeExpired } from "./store/expiry.ts";
import { claimSession, markSent } from "./store/mailboxes.ts";
import type { RelayState } from "./store/relay-state.ts";
import type { Sql } from "./store/sql-values.ts";
import { createAuthenticate } from "./ws/authenticate.ts";
import { ConnectionRegistry } from "./ws/registry.ts";
import { createAnswerRequest } from "./ws/requests.ts";
import { maxDeviceFrameBytes, registerDeviceRoute } from "./ws/route.ts";

/** What an app is built from. */
export interface RelayAppOptions {
  readonly config: RelayConfig;
  readonly sql: Sql;
  readonly planOnce: Sql;
  /** How other processes on this database are heard; undefined where there can be none. */
  readonly listen?: Database["listen"] | undefined;
  readonly state: RelayState;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A wired relay that does not listen yet. */
export interface RelayApp {
  readonly http: RelayHttp;
  readonly expiry: Expiry;
  /** Tells the app the origin that clients sign; before it answers anybody. */
  readonly setOrigin: (origin: string) => void;
  /** Everything that is counted, as text. Never rejects. */
  readonly scrape: () => ReturnType<Metrics["scrape"]>;
  /** Marks of the doctor, and the address that each came from. */
  readonly probes: Probes;
  /** How the relay stands. Never rejects. */
  readonly readiness: () => Promise<Readiness>;
  /** Looks at the disk, from now on. */
  readonly watchStorage: () => Promise<void>;
  /** Ends what runs beside requests, once the server is closed. */
  readonly close: () => Promise<void>;
}

interface Parts extends RouteParts, RelayAppOptions {
  readonly wakeups: Wakeups;
  readonly registry: ConnectionRegistry;
  readonly neighbourhood: Neighbourhood;
}

/** Recipients looked up by one statement, and uploads that may wait for it. */
const maxLookups = 256;
const maxWaitingLookups = 8_192;

/** Wires a relay. */
export async function createRelayApp(options: RelayAppOptions): Promise<RelayApp> {
  const { sql, planOnce, clock, log } = options;
  const registry = new ConnectionRegistry();
  const edge = createEdge(options);
  const http = await createServer(options, registry, edge.onFailure);
  const wakeups = createWakeups();
  const metrics = createMetrics();
  const recipients = createRelayRecipients(options);
  const neighbourhood = joinNeighbourhood({
    ...options,
    listen: options.listen,
    laneCount: options.state.lanes,
    registry,
    wakeups,
    forget: recipients.forgetAll,
  });
  const expiry = createRelayExpiry(options, metrics);
  const lanes = createLanes({
    sql,
    planOnce,
    count: options.state.lanes,
    ensureDay: expiry.ensureDay,
    wake: (news, fresh) => {
      wakeups.wake(news, fresh);
      if (news.size > 0) neighbourhood.announce("mailboxes");
    },
    clock,
    log,
    metrics,
  });
  const storage = createRelayStorage(options);
  const joined = { ...edge, registry, neighbourhood, recipients, metrics };
  const keyPorts = createKeyPorts({ ...options, ...joined, laneOf: lanes.numberOf });
  const readiness = (): Promise<Readiness> => readReadiness(sql, storage, clock);
  const parts = { ...options, lanes, wakeups, storage, readiness, keyPorts, ...joined };
  addHttpRoutes(http, parts);
  addDeviceRoute(http, parts);
  return {
    http,
    expiry,
    probes: edge.probes,
    setOrigin: (text) => Object.assign(edge.origin, { text, digest: originHash(text) }),
    scrape: () => scrape(parts),
    readiness,
    watchStorage: storage.start,
    close: async () => {
      metrics.close();
      storage.close();
      await expiry.close();
      await neighbourhood.close();
    },
  };
}

function scrape({ metrics, registry, storage, sql, clock }: Parts): ReturnType<RelayApp["scrape"]> {
  return metrics.scrape({
    connections: () => registry.size,
    storage: () => ({ isFull: storage.isFull(), freeBytes: storage.freeBytes() }),
    database: () => inTime(readDatabaseHealth(sql), clock),
  });
}

/** What requests and upgrades are met with, whatever they ask. */
function createEdge({ config, clock, log }: RelayAppOptions) {
  return {
    addressLimit: createRateLimit({ perMinute: config.addressRequestsPerMinute, clock }),
    clientAddress: createClientAddress(config.trustedProxies),
    origin: { text: "", digest: new Uint8Array(32) },
    probes: createProbes(),
    onFailure: (code: string): void => log.error({ code }, "request failed"),
  };
}

function createServer(
  { config, clock }: RelayAppOptions,
  registry: ConnectionRegistry,
  onFailure: (code: string) => void,
): Promise<RelayHttp> {
  return createHttpServer({
    trustedProxies: config.trustedProxies,
    maxFrameBytes: maxDeviceFrameBytes,
    closeSockets: () => registry.closeAll(after(clock, config.drainMs)),
    clock,
    onFailure,
  });
}

function createRelayStorage({ config, clock, log }: RelayAppOptions): StoragePressure {
  const { databaseUrl, dataDir, storageDir, storageReserveMb } = config;
  // An external database may lie on another machine: its disk is looked at only where one is named.
  const folder = storageDir ?? (databaseUrl === undefined ? dataDir : undefined);
  return createStoragePressure({
    freeBytes: () => (folder === undefined ? Promise.resolve(undefined) : freeBytesUnder(folder)),
    reserveBytes: storageReserveMb * 1_048_576,
    clock,
    onChange: (full, freeBytes) =>
      full
        ? log.error({ freeBytes }, "the disk is nearly full: nothing new is accepted")
        : log.info({ freeBytes }, "the disk has room again"),
  });
}

function createRelayRecipients({ sql, clock }: RelayAppOptions): Recipients {
  const read = createBatcher<string, Recipient | undefined>({
    run: async (accounts) => {
      const found = await findRecipients(sql, [...new Set(accounts)], clock.nowMs());
      return accounts.map((account) => found.get(account));
    },
    maxBatch: maxLookups,
    maxWaiting: maxWaitingLookups,
  });
  return createRecipients({ read: (account) => withinBound(read(account), clock), clock });
}

function createRelayExpiry(options: RelayAppOptions, metrics: Metrics): Expiry {
  const { sql, state, clock, log } = options;
  return createExpiry({
    ensureDays: (fromDay, toDay) => ensureDays(sql, fromDay, toDay),
    expireItems: async (day) => {
      let items = 0;
      for (let lane = 0; lane < state.lanes; lane++) items += await expireItems(sql, lane, day);
      return items;
    },
    dropDaysBefore: (day) => dropDaysBefore(sql, day),
    purge: async (nowMs) => {
      await purgeExpired(sql, nowMs);
      await purgeRetiredKeys(sql, nowMs);
    },
    clock,
    onDone: (expired) => {
      metrics.expired(expired.items);
      log.info(expired, "expired");
    },
    onFailure: (code) => log.error({ code }, "expiry failed; the next run is in an hour"),
  });
}

function addDeviceRoute(http: RelayHttp, parts: Parts): void {
  const { sql, state, clock, log, lanes, registry, neighbourhood, metrics } = parts;
  const answer = createAnswerRequest(createRequestPorts(parts));
  registerDeviceRoute(
    http,
    {
      authenticate: createAuthenticate(
        (deviceId) => withinBound(findDevice(sql, deviceId), clock),
        () => parts.origin.digest,
      ),
      openStream: delivering(
        metrics,
        createOpenStream({
          claim: async (name) => {
            const session = await withinBound(claimSession(sql, name), clock);
            // Whoever holds it in another process hears that it was displaced.
            neighbourhood.announce("mailboxes");
            return session;
          },
          markSent: (hold, sentThrough) => markSent(sql, hold, sentThrough),
          lanePorts: lanes.byNumber,
          wakeups: parts.wakeups,
          clock,
        }),
      ),
      answer: (holder, frame) => withinBound(answer(holder, frame), clock),
      registry,
      identity: { epoch: state.epoch, laneOf: lanes.numberOf },
      runtime: {
        clock,
        rng: systemRng,
        onEvent: (event, code) => {
          metrics.connectionEvent(event);
          log.info({ event, code }, "device connection");
        },
      },
    },
    { address: parts.addressLimit, clock },
  );
}
