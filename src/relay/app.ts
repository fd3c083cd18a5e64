/**
 * Composition root of the relay: ties store, delivery and the two edges together over one open
 * database. It decides nothing; every rule lives in the part that it wires.
 */
import type { Clock } from "../shared/clock.ts";
import { originHash } from "../shared/crypto/origin.ts";
import { systemRng } from "../shared/rng.ts";
import type { RelayConfig } from "./config.ts";
import type { Database } from "./db/client.ts";
import type { Accept } from "./delivery/accept.ts";
import { createAdmissions } from "./delivery/admission.ts";
import { createBatcher } from "./delivery/batcher.ts";
import { createExpiry, type Expiry } from "./delivery/expire.ts";
import { createOpenStream } from "./delivery/open-stream.ts";
import { createRateLimit, type RateLimit } from "./delivery/rate-limit.ts";
import { createRecipients, type Recipients } from "./delivery/recipients.ts";
import { createSubmit } from "./delivery/submit.ts";
import { createWakeups, type Wakeups } from "./delivery/wakeup.ts";
import { counted, delivering } from "./counted.ts";
import { registerAccounts } from "./http/accounts.ts";
import { registerBundles } from "./http/bundles.ts";
import { registerEnvelopes } from "./http/envelopes.ts";
import { registerInfo } from "./http/info.ts";
import { registerOpenapi } from "./http/openapi.ts";
import { registerRendezvous } from "./http/rendezvous.ts";
import type { RelayHttp } from "./http/replies.ts";
import { createHttpServer } from "./http/server.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import type { Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { joinNeighbourhood, type Neighbourhood } from "./neighbourhood.ts";
import { after, inTime, isReady } from "./readiness.ts";
import { createRequestPorts } from "./request-ports.ts";
import { purgeRetiredKeys, takeReserveBundle } from "./store/access-keys.ts";
import { findRecipients, readBundle, type Recipient, registerAccount } from "./store/accounts.ts";
import { findDevice } from "./store/devices.ts";
import { readDatabaseHealth } from "./store/database-health.ts";
import { dropDaysBefore, ensureDays, expireItems, purgeExpired } from "./store/expiry.ts";
import { claimSession, markSent } from "./store/mailboxes.ts";
import type { RelayState } from "./store/relay-state.ts";
import { codeHashOf } from "./store/registration-codes.ts";
import { putBox, readBox } from "./store/rendezvous.ts";
import type { Sql } from "./store/sql-values.ts";
import { createAuthenticate } from "./ws/authenticate.ts";
import { ConnectionRegistry } from "./ws/registry.ts";
import { createAnswerRequest } from "./ws/requests.ts";
import { maxDeviceFrameBytes, registerDeviceRoute } from "./ws/route.ts";

/** What an app is built from. */
export interface RelayAppOptions {
  readonly config: RelayConfig;
  readonly sql: Sql;
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
  /** Whether the database answers in time. Never rejects. */
  readonly isReady: () => Promise<boolean>;
  /** Ends what runs beside requests, once the server is closed. */
  readonly close: () => Promise<void>;
}

interface Parts extends RelayAppOptions {
  readonly lanes: Lanes;
  readonly wakeups: Wakeups;
  readonly registry: ConnectionRegistry;
  readonly neighbourhood: Neighbourhood;
  readonly recipients: Recipients;
  readonly metrics: Metrics;
  readonly addressLimit: RateLimit;
  readonly origin: { text: string; digest: Uint8Array };
}

/** Recipients looked up by one statement, and uploads that may wait for it. */
const maxLookups = 256;
const maxWaitingLookups = 8_192;

/** Wires a relay. */
export async function createRelayApp(options: RelayAppOptions): Promise<RelayApp> {
  const { config, sql, clock, log } = options;
  const registry = new ConnectionRegistry();
  const http = await createHttpServer({
    trustedProxies: config.trustedProxies,
    maxFrameBytes: maxDeviceFrameBytes,
    closeSockets: () => registry.closeAll(after(clock, config.drainMs)),
    clock,
    onFailure: (code) => log.error({ code }, "request failed"),
  });
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
  const origin: Parts["origin"] = { text: "", digest: new Uint8Array(32) };
  const addressLimit = createRateLimit({ perMinute: config.addressRequestsPerMinute, clock });
  const joined = { registry, neighbourhood, recipients, metrics, addressLimit, origin };
  const parts = { ...options, lanes, wakeups, ...joined };
  addHttpRoutes(http, parts);
  addDeviceRoute(http, parts);
  registerOpenapi(http);
  return {
    http,
    expiry,
    setOrigin: (text) => Object.assign(origin, { text, digest: originHash(text) }),
    scrape: () =>
      metrics.scrape({
        connections: () => registry.size,
        database: () => inTime(readDatabaseHealth(sql), clock),
      }),
    isReady: () => isReady(sql, clock),
    close: async () => {
      metrics.close();
      await expiry.close();
      await neighbourhood.close();
    },
  };
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
  return createRecipients({ read, clock });
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

function addHttpRoutes(http: RelayHttp, parts: Parts): void {
  const { config, sql, state, clock, lanes, recipients, addressLimit, origin } = parts;
  const mailboxLimit = createRateLimit({ perMinute: config.mailboxUploadsPerMinute, clock });
  const bundleLimit = createRateLimit({ perMinute: config.mailboxUploadsPerMinute, clock });
  const originDigest = (): Uint8Array => origin.digest;
  const admissions = createAdmissions(recipients);
  const acceptFor = (account: string): Accept => lanes.byNumber(lanes.numberOf(account)).accept;
  const limits = { addressLimit, mailboxLimit };
  const submit = createSubmit({ admissions, acceptFor, ...limits, originDigest, clock });
  registerEnvelopes(http, counted(submit, parts.metrics), clock);
  registerBundles(http, {
    admit: admissions.admit,
    takeReserve: (account, day) => takeReserveBundle(sql, account, day),
    readBundle: (account, since) => readBundle(sql, account, since),
    addressLimit,
    mailboxLimit: bundleLimit,
    originDigest,
    clock,
  });
  registerAccounts(http, {
    register: (registration, code) => {
      const lane = lanes.numberOf(registration.account);
      const codeHash = code === undefined ? undefined : codeHashOf(code);
      return registerAccount(sql, { ...registration, lane, codeHash }, clock.nowMs());
    },
    isOpen: config.registration === "open",
    addressLimit,
    identity: { epoch: state.epoch, originDigest },
    clock,
  });
  registerRendezvous(http, {
    put: (name, content) => putBox(sql, name, content, clock.nowMs()),
    read: (name) => readBox(sql, name, clock.nowMs()),
    addressLimit,
    clock,
  });
  registerInfo(http, {
    epoch: state.epoch,
    origin: () => origin.text,
    registration: config.registration,
    contact: config.contact,
    isReady: () => isReady(sql, clock),
    clock,
  });
}

function addDeviceRoute(http: RelayHttp, parts: Parts): void {
  const { sql, state, clock, log, lanes, registry, neighbourhood, metrics } = parts;
  registerDeviceRoute(
    http,
    {
      authenticate: createAuthenticate(
        (deviceId) => findDevice(sql, deviceId),
        () => parts.origin.digest,
      ),
      openStream: delivering(
        metrics,
        createOpenStream({
          claim: async (name) => {
            const session = await claimSession(sql, name);
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
      answer: createAnswerRequest(createRequestPorts(parts)),
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
