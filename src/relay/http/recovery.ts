/**
 * `POST /v1/accounts/recover/begin`, `/v1/accounts/recover` and `/v1/accounts/renew`: what the identity
 * key itself may ask, without any device: where its account is, to let a new device in, and to hand the
 * account to a new key. Everything is verified here and handed to the store as one statement.
 *
 * Spec: docs/protocol.md "Recovery", "Renewal".
 */
import type { Clock } from "../../shared/clock.ts";
import { parseBase64Url, toBase64Url } from "../../shared/bytes.ts";
import {
  checkSuccessor,
  type DeviceList,
  deviceState,
  entryOf,
  parseDeviceList,
} from "../../shared/crypto/device-list.ts";
import { parsePrekey, type Prekey, prekeyAge, prekeyBytes } from "../../shared/crypto/prekey.ts";
import { verifyRecoverAsk, verifyRecovery } from "../../shared/crypto/relay-auth.ts";
import { parseRenewal, type Renewal, renewalBytes } from "../../shared/crypto/renewal.ts";
import { equalBytes } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import { parseU64 } from "../../shared/wire/fields.ts";
import {
  recoverBeginReply,
  type RecoverBeginRequest,
  recoverBeginRequest,
  type RecoverRequest,
  recoverRequest,
  registerReply,
  type RenewRequest,
  renewRequest,
} from "../../shared/wire/http.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import { limitRefusal } from "../delivery/submit.ts";
import type { ListUpdated, ListUpdateError } from "../store/device-lists.ts";
import { answers } from "./openapi.ts";
import { addressOf, fieldBytes, type RelayHttp, sendRefusal, timeField } from "./replies.ts";

/** A new device that the identity key lets in, verified against the known list. */
export interface Recovery {
  readonly known: DeviceList;
  readonly next: DeviceList;
  readonly prekey: Prekey;
  readonly accessKey: Uint8Array;
}

/** A change of identity key, verified against the known list. */
export interface RenewalChange {
  readonly known: DeviceList;
  readonly next: DeviceList;
  readonly renewal: Renewal;
}

type Changed = Promise<Result<ListUpdated, ListUpdateError>>;

/** What these routes act through. */
export interface RecoveryPorts {
  readonly accountOfKey: (aik: Uint8Array) => Promise<string | undefined>;
  /** The chain under the current identity key, oldest first. */
  readonly chainOf: (account: string) => Promise<readonly Uint8Array[]>;
  readonly recover: (account: string, recovery: Recovery) => Changed;
  readonly renew: (account: string, change: RenewalChange) => Changed;
  readonly addressLimit: RateLimit;
  readonly identity: { readonly epoch: string; readonly originDigest: () => Uint8Array };
  readonly clock: Clock;
}

/** How far a signed time may be from the relay's. Units: ms. */
const signedAtToleranceMs = 300_000n;

/** Adds the routes. */
export function registerRecovery(app: RelayHttp, ports: RecoveryPorts): void {
  const { clock, identity } = ports;
  const done = () => ({ ...timeField(clock), epoch: identity.epoch });
  const limited = (request: Parameters<typeof addressOf>[0]) =>
    limitRefusal(ports.addressLimit(addressOf(request)), "address");

  app.post(
    "/v1/accounts/recover/begin",
    {
      schema: {
        summary: "the account of an identity key, and its chain of device lists",
        body: recoverBeginRequest,
        response: answers({ 200: recoverBeginReply }),
      },
    },
    async (request, reply) => {
      const begun = limited(request) ?? (await begin(ports, request.body));
      if ("code" in begun) return sendRefusal(reply, clock, begun);
      const { account, chain } = begun;
      const lists = chain.map(toBase64Url);
      return { ...timeField(clock), account_mailbox: account, device_lists: lists };
    },
  );
  app.post(
    "/v1/accounts/recover",
    {
      schema: {
        summary: "let a new device in by the identity key alone",
        body: recoverRequest,
        response: answers({ 200: registerReply }),
      },
    },
    async (request, reply) => {
      const refused = limited(request) ?? (await recover(ports, request.body));
      return refused === undefined ? done() : sendRefusal(reply, clock, refused);
    },
  );
  app.post(
    "/v1/accounts/renew",
    {
      schema: {
        summary: "hand an account to a new identity key",
        body: renewRequest,
        response: answers({ 200: registerReply }),
      },
    },
    async (request, reply) => {
      const refused = limited(request) ?? (await renew(ports, request.body));
      return refused === undefined ? done() : sendRefusal(reply, clock, refused);
    },
  );
}

interface Begun {
  readonly account: string;
  readonly chain: readonly Uint8Array[];
}

async function begin(ports: RecoveryPorts, body: RecoverBeginRequest): Promise<Begun | Refusal> {
  const aik = fieldBytes(body.aik, 32);
  const signature = fieldBytes(body.signature, 64);
  const signedAt = parseU64(body.signed_at);
  if (!aik || !signature || !signedAt.ok) return notCanonical();
  const claim = { originDigest: ports.identity.originDigest(), timeMs: signedAt.value };
  if (!verifyRecoverAsk(claim, aik, signature)) return notTheKey();
  const offMs = signedAt.value - BigInt(ports.clock.nowMs());
  if (offMs > signedAtToleranceMs || offMs < -signedAtToleranceMs) {
    return refusal("clock-skew", "signed_at: over five minutes off; use the relay's time");
  }
  const account = await ports.accountOfKey(aik);
  if (account === undefined) return noAccount();
  return { account, chain: await ports.chainOf(account) };
}

async function recover(ports: RecoveryPorts, body: RecoverRequest): Promise<Refusal | undefined> {
  const accessKey = fieldBytes(body.access_key, 32);
  const signature = fieldBytes(body.signature, 64);
  const prekeyRecord = fieldBytes(body.prekey, prekeyBytes);
  if (!accessKey || !signature || !prekeyRecord) return notCanonical();
  const next = listOf(body.device_list);
  if (!next.ok) return next.error;
  const { aik, hash } = next.value;
  const claim = { originDigest: ports.identity.originDigest(), listHash: hash, accessKey };
  if (!verifyRecovery(claim, aik, signature)) return notTheKey();
  const known = await knownList(ports, aik);
  if (known === undefined) return noAccount();
  const step = checkSuccessor(known.list, next.value);
  if (!step.ok) return refusal("conflict", `device_list: ${step.error.type}; begin again`);
  // The reply to a first attempt may have been lost.
  if (step.value === "unchanged") return undefined;
  const prekey = prekeyOfNewDevice(known.list, next.value, prekeyRecord);
  if (!prekey.ok) return prekey.error;
  if (prekeyAge(prekey.value, ports.clock.nowMs()) === "future") {
    return refusal("clock-skew", "prekey: dated over an hour ahead; use the relay's time");
  }
  const recovery = { known: known.list, next: next.value, prekey: prekey.value, accessKey };
  return changeRefusal(await ports.recover(known.account, recovery));
}

async function renew(ports: RecoveryPorts, body: RenewRequest): Promise<Refusal | undefined> {
  const record = fieldBytes(body.renewal, renewalBytes);
  const renewal = record && parseRenewal(record);
  if (renewal === undefined || !renewal.ok) {
    return refusal("unauthorised", "renewal: expected the signatures of both keys");
  }
  const next = listOf(body.device_list);
  if (!next.ok) return next.error;
  const { oldAik, newAik, oldListVersion, oldListHash } = renewal.value;
  if (!equalBytes(next.value.aik, newAik) || next.value.version !== 1) {
    return refusal("malformed", "device_list: expected version 1, signed by the new key");
  }
  const known = await knownList(ports, oldAik);
  if (known === undefined) {
    return (await isRenewedAlready(ports, next.value)) ? undefined : noAccount();
  }
  if (known.list.version !== oldListVersion || !equalBytes(known.list.hash, oldListHash)) {
    return refusal("conflict", "renewal: names another list than the newest; fetch it again");
  }
  if (!isOfKnownDevices(known.list, next.value)) {
    return refusal("malformed", "device_list: a renewal takes over known devices, and adds none");
  }
  const change = { known: known.list, next: next.value, renewal: renewal.value };
  return changeRefusal(await ports.renew(known.account, change));
}

/** The reply to a first attempt may have been lost. */
async function isRenewedAlready(ports: RecoveryPorts, next: DeviceList): Promise<boolean> {
  const renewed = await knownList(ports, next.aik);
  return renewed?.chain.some((each) => equalBytes(each, next.record)) ?? false;
}

interface KnownAccount {
  readonly account: string;
  readonly list: DeviceList;
  readonly chain: readonly Uint8Array[];
}

async function knownList(ports: RecoveryPorts, aik: Uint8Array): Promise<KnownAccount | undefined> {
  const account = await ports.accountOfKey(aik);
  if (account === undefined) return undefined;
  const chain = await ports.chainOf(account);
  const newest = chain.at(-1);
  const list = newest && parseDeviceList(newest);
  if (list === undefined || !list.ok) throw new Error("the stored device list does not verify");
  return { account, list: list.value, chain };
}

function listOf(text: string): Result<DeviceList, Refusal> {
  const record = parseBase64Url(text);
  if (!record.ok) return err(notCanonical());
  const list = parseDeviceList(record.value);
  if (list.ok) return list;
  return err(
    list.error.type === "list-signature"
      ? refusal("unauthorised", "device_list: the signature is not the account's")
      : refusal("malformed", `device_list: ${list.error.reason}`),
  );
}

/** The prekey, if it is of the one device that this list adds. */
function prekeyOfNewDevice(
  known: DeviceList,
  next: DeviceList,
  record: Uint8Array,
): Result<Prekey, Refusal> {
  const added = next.entries.filter((entry) => entryOf(known, entry.deviceId) === undefined);
  const [device] = added;
  if (device === undefined || added.length > 1 || device.state === deviceState.revoked) {
    return err(refusal("malformed", "device_list: expected one new device, not revoked"));
  }
  const prekey = parsePrekey(record, { ...device, aik: next.aik });
  return prekey.ok
    ? ok(prekey.value)
    : err(refusal("malformed", "prekey: expected one that the new device signed"));
}

/** Whether every entry is as it was but for its state, and nobody revoked came back. */
function isOfKnownDevices(known: DeviceList, next: DeviceList): boolean {
  return next.entries.every((entry) => {
    const before = entryOf(known, entry.deviceId);
    return (
      before !== undefined &&
      equalBytes(before.dsk, entry.dsk) &&
      equalBytes(before.mailbox, entry.mailbox) &&
      (before.state !== deviceState.revoked || entry.state === deviceState.revoked)
    );
  });
}

function changeRefusal(changed: Awaited<Changed>): Refusal | undefined {
  if (changed.ok) return undefined;
  return refusal(
    "conflict",
    "the list changed meanwhile, or a new id or key is in use: begin again",
  );
}

function notCanonical(): Refusal {
  return refusal("malformed", "a field is not canonical base64url, or no u64");
}

function notTheKey(): Refusal {
  return refusal(
    "unauthorised",
    "signature: expected the account's own, over this relay's origin (see /v1/info)",
  );
}

function noAccount(): Refusal {
  return refusal("unauthorised", "no account has this identity key here; it may have been renewed");
}
