/**
 * What anybody may ask over HTTP, wired: each route with the store's operations and the limits that
 * it acts through. Writes are given up after a bound, since a commit may hang for ever.
 *
 * The routes themselves are http/; the mailbox connection is wired in app.ts.
 */
import type { Clock } from "../shared/clock.ts";
import type { RelayConfig } from "./config.ts";
import { counted } from "./counted.ts";
import type { Accept } from "./delivery/accept.ts";
import { createAdmissions } from "./delivery/admission.ts";
import { createRateLimit, type RateLimit } from "./delivery/rate-limit.ts";
import type { Recipients } from "./delivery/recipients.ts";
import type { StoragePressure } from "./delivery/storage-pressure.ts";
import { createSubmit } from "./delivery/submit.ts";
import { registerAccounts } from "./http/accounts.ts";
import { registerBundles } from "./http/bundles.ts";
import type { ClientAddress } from "./http/client-address.ts";
import { registerEnvelopes } from "./http/envelopes.ts";
import { registerInfo } from "./http/info.ts";
import { registerOpenapi } from "./http/openapi.ts";
import { type RecoveryPorts, registerRecovery } from "./http/recovery.ts";
import { registerRendezvous } from "./http/rendezvous.ts";
import type { RelayHttp } from "./http/replies.ts";
import type { Lanes } from "./lanes.ts";
import type { Metrics } from "./metrics.ts";
import type { Probes } from "./probes.ts";
import { type Readiness, withinBound } from "./readiness.ts";
import { takeReserveBundle } from "./store/access-keys.ts";
import { readBundle, registerAccount } from "./store/accounts.ts";
import { codeHashOf } from "./store/registration-codes.ts";
import type { RelayState } from "./store/relay-state.ts";
import { putBox, readBox } from "./store/rendezvous.ts";
import type { Sql } from "./store/sql-values.ts";

/** What the routes are wired to. */
export interface RouteParts {
  readonly config: RelayConfig;
  readonly sql: Sql;
  readonly state: RelayState;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly recipients: Recipients;
  readonly metrics: Metrics;
  readonly storage: StoragePressure;
  readonly addressLimit: RateLimit;
  readonly origin: { readonly text: string; readonly digest: Uint8Array };
  readonly readiness: () => Promise<Readiness>;
  /** What identity keys may ask. */
  readonly keyPorts: Pick<RecoveryPorts, "accountOfKey" | "chainOf" | "recover" | "renew">;
  readonly probes: Probes;
  readonly clientAddress: ClientAddress;
  /** Told the code of a request that failed. */
  readonly onFailure: (code: string) => void;
}

/** Adds every route but the WebSocket. */
export function addHttpRoutes(http: RelayHttp, parts: RouteParts): void {
  addSending(http, parts);
  addAccounts(http, parts);
  const { config, sql, state, clock, addressLimit, origin, storage } = parts;
  registerRendezvous(http, {
    put: (name, content) => withinBound(putBox(sql, name, content, clock.nowMs()), clock),
    read: (name) => readBox(sql, name, clock.nowMs()),
    storage,
    addressLimit,
    clock,
  });
  registerInfo(http, {
    epoch: state.epoch,
    origin: () => origin.text,
    registration: config.registration,
    contact: config.contact,
    readiness: parts.readiness,
    probed: parts.probes.seen,
    clock,
  });
  registerOpenapi(http);
}

function addSending(http: RelayHttp, parts: RouteParts): void {
  const { config, sql, clock, lanes, recipients, addressLimit, storage } = parts;
  const mailboxLimit = createRateLimit({ perMinute: config.mailboxUploadsPerMinute, clock });
  const bundleLimit = createRateLimit({ perMinute: config.mailboxUploadsPerMinute, clock });
  const originDigest = (): Uint8Array => parts.origin.digest;
  const admissions = createAdmissions(recipients);
  const acceptFor = (account: string): Accept => lanes.byNumber(lanes.numberOf(account)).accept;
  const limits = { addressLimit, mailboxLimit };
  const submit = createSubmit({ admissions, acceptFor, ...limits, originDigest, storage, clock });
  registerEnvelopes(http, {
    submit: counted(submit, parts.metrics),
    clientAddress: parts.clientAddress,
    onFailure: parts.onFailure,
    clock,
  });
  registerBundles(http, {
    admit: admissions.admit,
    takeReserve: (account, day) => withinBound(takeReserveBundle(sql, account, day), clock),
    readBundle: (account, since) => readBundle(sql, account, since),
    addressLimit,
    mailboxLimit: bundleLimit,
    originDigest,
    clock,
  });
}

function addAccounts(http: RelayHttp, parts: RouteParts): void {
  const { config, sql, state, clock, lanes, addressLimit, storage } = parts;
  const identity = { epoch: state.epoch, originDigest: () => parts.origin.digest };
  const common = { addressLimit, identity, clock };
  registerAccounts(http, {
    register: (registration, code) => {
      const lane = lanes.numberOf(registration.account);
      const codeHash = code === undefined ? undefined : codeHashOf(code);
      const registered = registerAccount(sql, { ...registration, lane, codeHash }, clock.nowMs());
      return withinBound(registered, clock);
    },
    isOpen: config.registration === "open",
    storage,
    ...common,
  });
  registerRecovery(http, { ...parts.keyPorts, ...common });
}
