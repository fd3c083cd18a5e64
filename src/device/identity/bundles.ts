/**
 * Bundles: what is asked of a relay so that an account can be sealed to, and what is believed of its
 * answer. The relay is not trusted: lists must follow the chain, prekeys must be signed by devices
 * of the newest list, and a prekey is never taken back to an older one.
 *
 * Who fetches, and when, is the pump's and the runtime's matter.
 *
 * Spec: docs/protocol.md "Prekey", "Tokens", "Bundles". Times are relay time.
 */
import { clampU64, equalBytes, parseBase64Url, toBase64Url } from "../../shared/bytes.ts";
import {
  type DeviceEntry,
  type DeviceList,
  liveEntries,
  parseDeviceList,
} from "../../shared/crypto/device-list.ts";
import { originHash } from "../../shared/crypto/origin.ts";
import {
  parsePrekey,
  type Prekey,
  prekeyAge,
  prekeyBytes,
  type PrekeyError,
} from "../../shared/crypto/prekey.ts";
import { bundleTokenInput, type KeyKind, keyKind, makeToken } from "../../shared/crypto/token.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import { tokenLifetimeMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { BundleReply, BundleRequest } from "../../shared/wire/http.ts";
import { getContact } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import {
  markBundleFetched,
  newestDeviceList,
  peerPrekeyOf,
  putPeerPrekey,
} from "../store/lists.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { type ListChange, type ListFault, learnLists, newestList } from "./lists.ts";

/** Where an account is reached, and what opens its door. */
export interface DeliveryRoute {
  readonly relayOrigin: string;
  readonly accountMailbox: Uint8Array;
  readonly keyKind: KeyKind;
  readonly key: Uint8Array;
}

/** A prekey that was not taken. `prekey-equal`: another key under the same date. */
export interface PrekeyFault {
  readonly type: PrekeyError["type"] | "prekey-future" | "prekey-equal" | "prekey-unlisted";
}

/** What a bundle changed. */
export interface BundleChange extends ListChange {
  /** Devices of the newest list whose prekey this bundle renewed. */
  readonly renewed: readonly string[];
  readonly faults: readonly PrekeyFault[];
}

export type BundleFault =
  | ListFault
  | { readonly type: "bundle-malformed"; readonly reason: string };

/** How to reach an account: our own by our access key, a contact by theirs or by their invite. */
export function deliveryRoute(tx: ReadTx, aik: string): DeliveryRoute | undefined {
  const own = getOwnAccount(tx);
  if (own?.aik === aik) {
    return {
      relayOrigin: own.relayOrigin,
      accountMailbox: idFromText(own.accountMailbox),
      keyKind: keyKind.access,
      key: own.accessKey,
    };
  }
  const person = getContact(tx, aik);
  const key = person?.accessKey ?? person?.inviteKey;
  if (person?.relayOrigin == null || person.accountMailbox === null || key == null) {
    return undefined;
  }
  return {
    relayOrigin: person.relayOrigin,
    accountMailbox: idFromText(person.accountMailbox),
    keyKind: person.accessKey === null ? keyKind.invite : keyKind.access,
    key,
  };
}

/** Builds the request for what is new of an account. `since` defaults to the version held. */
export function bundleRequest(
  tx: ReadTx,
  aik: string,
  relayNowMs: number,
  since: number = newestDeviceList(tx, aik)?.version ?? 0,
): { readonly relayOrigin: string; readonly request: BundleRequest } | undefined {
  const route = deliveryRoute(tx, aik);
  if (route === undefined) return undefined;
  const expiryMs = BigInt(relayNowMs + tokenLifetimeMs);
  const claim = { accountMailbox: route.accountMailbox, keyKind: route.keyKind, since, expiryMs };
  const token = makeToken(bundleTokenInput(claim, originHash(route.relayOrigin)), route.key);
  return {
    relayOrigin: route.relayOrigin,
    request: {
      account_mailbox: toBase64Url(route.accountMailbox),
      key_kind: route.keyKind,
      since,
      token_expiry: expiryMs.toString(),
      token: toBase64Url(token),
    },
  };
}

/**
 * Takes in a bundle: lists first, then prekeys of the newest list's devices. A fault in the lists
 * leaves the prekeys alone and does not count as fetched; a fault in one prekey only skips it.
 */
export function learnBundle(
  tx: WriteTx,
  aik: string,
  reply: BundleReply,
  relayNowMs: number,
): Result<BundleChange, BundleFault> {
  const lists = parseLists(reply.device_lists);
  if (!lists.ok) return lists;
  const change = learnLists(tx, aik, lists.value);
  if (!change.ok) return change;
  const live = liveEntries(change.value.newest);
  const renewed: string[] = [];
  const faults: PrekeyFault[] = [];
  for (const text of reply.prekeys) {
    const taken = takePrekey(tx, { aik, live, text, relayNowMs });
    if (!taken.ok) faults.push(taken.error);
    else if (taken.value !== undefined) renewed.push(taken.value);
  }
  markBundleFetched(tx, aik, relayNowMs);
  return ok({ ...change.value, renewed, faults });
}

/** The prekey of one device that may be sealed to now; `undefined` when there is none in date. */
export function usablePrekey(
  tx: ReadTx,
  aik: string,
  entry: DeviceEntry,
  relayNowMs: number,
): Prekey | undefined {
  const row = peerPrekeyOf(tx, aik, idText(entry.deviceId));
  const owner = { aik: idFromText(aik, 32), deviceId: entry.deviceId, dsk: entry.dsk };
  const prekey = row === undefined ? undefined : parsePrekey(row.record, owner);
  if (prekey?.ok !== true) return undefined;
  return prekeyAge(prekey.value, relayNowMs) === "usable" ? prekey.value : undefined;
}

/** Whether any prekey of that device is known. */
export function hasPrekey(tx: ReadTx, aik: string, deviceId: string): boolean {
  return peerPrekeyOf(tx, aik, deviceId) !== undefined;
}

/** Devices of an account that have a usable prekey, out of all that are not revoked. */
export function reachableDevices(
  tx: ReadTx,
  aik: string,
  relayNowMs: number,
): { readonly live: number; readonly withPrekey: number } {
  const list = newestList(tx, aik);
  const live = list === undefined ? [] : liveEntries(list);
  const withPrekey = live.filter((entry) => usablePrekey(tx, aik, entry, relayNowMs) !== undefined);
  return { live: live.length, withPrekey: withPrekey.length };
}

function parseLists(texts: readonly string[]): Result<readonly DeviceList[], BundleFault> {
  const lists: DeviceList[] = [];
  for (const text of texts) {
    const record = parseBase64Url(text);
    const list = record.ok ? parseDeviceList(record.value) : record;
    if (!list.ok)
      return err({ type: "bundle-malformed", reason: `a device list: ${list.error.type}` });
    lists.push(list.value);
  }
  return ok(lists);
}

interface OfferedPrekey {
  readonly aik: string;
  readonly live: readonly DeviceEntry[];
  readonly text: string;
  readonly relayNowMs: number;
}

/** Takes one prekey. Returns its device when it is newer than the one held. */
function takePrekey(
  tx: WriteTx,
  { aik, live, text, relayNowMs }: OfferedPrekey,
): Result<string | undefined, PrekeyFault> {
  const record = parseBase64Url(text);
  if (!record.ok || record.value.length !== prekeyBytes) return err({ type: "prekey-malformed" });
  const owner = live.find((entry) => equalBytes(entry.deviceId, record.value.subarray(1, 17)));
  if (owner === undefined) return err({ type: "prekey-unlisted" });
  const prekey = parsePrekey(record.value, { ...owner, aik: idFromText(aik, 32) });
  if (!prekey.ok) return prekey;
  if (prekeyAge(prekey.value, relayNowMs) === "future") return err({ type: "prekey-future" });
  const deviceId = idText(owner.deviceId);
  const notBeforeMs = clampU64(prekey.value.notBeforeMs);
  const held = peerPrekeyOf(tx, aik, deviceId);
  if (held !== undefined && notBeforeMs <= held.notBeforeMs) {
    const replaced = notBeforeMs === held.notBeforeMs && !equalBytes(held.record, record.value);
    return replaced ? err({ type: "prekey-equal" }) : ok(undefined);
  }
  putPeerPrekey(tx, { aik, deviceId, notBeforeMs, record: prekey.value.record });
  return ok(deviceId);
}
