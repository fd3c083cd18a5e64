/**
 * Learning device lists, ours and other people's: the first one seen of an identity key is pinned,
 * every later one must follow it link by link. A list that contradicts the chain means that one key
 * signed two histories: it is kept as evidence, sending stops, and receiving goes on from devices
 * that both histories list.
 *
 * Lists arrive in any order, from bundles and from people; the outcome does not depend on it.
 *
 * Spec: docs/protocol.md "Device list".
 */
import { equalBytes } from "../../shared/bytes.ts";
import {
  checkSuccessor,
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
  liveEntries,
  parseDeviceList,
  type SuccessorError,
} from "../../shared/crypto/device-list.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import { updateContact } from "../store/contacts.ts";
import {
  addDeviceList,
  addRivalList,
  deviceListAt,
  forgetLists,
  newestDeviceList,
  rivalLists,
} from "../store/lists.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";

/** What a delivery of lists changed. */
export interface ListChange {
  readonly newest: DeviceList;
  /** The first list of this account: it was pinned. */
  readonly pinned: boolean;
  /** Devices that joined and left since what was known; empty when pinned. */
  readonly added: readonly DeviceEntry[];
  readonly revoked: readonly DeviceEntry[];
}

/**
 * Why a delivery was not taken in whole. `list-gap`: ask for the lists above `knownVersion`.
 * `list-rollback`: only old lists; nothing to do, but a relay that does it hides something.
 * `list-fork`, `list-chain`: sending to this account has stopped. `list-empty`: nothing to learn.
 */
export type ListFault =
  | { readonly type: "list-gap"; readonly knownVersion: number }
  | { readonly type: "list-fork" | "list-chain" | "list-rollback" | "list-foreign" | "list-empty" }
  | { readonly type: "list-malformed"; readonly reason: string };

/** Histories kept beside the chain. Sending has stopped after the first: more change nothing. */
const maxRivals = 8;
const stoppedPrefix = "list-stopped:";

/** Why nothing is sent to an account. `renewal-fork`: two keys say that they took over from one. */
const stopReasons = ["list-fork", "list-chain", "renewal-fork"] as const;
export type StopReason = (typeof stopReasons)[number];

/**
 * Takes in lists of one account, in any order. What follows the chain is kept even when a later
 * one is at fault.
 */
export function learnLists(
  tx: WriteTx,
  aik: string,
  delivered: readonly DeviceList[],
): Result<ListChange, ListFault> {
  const lists = delivered.toSorted((a, b) => a.version - b.version);
  const [oldest] = lists;
  if (oldest === undefined) return err({ type: "list-empty" });
  if (lists.some((list) => idText(list.aik) !== aik)) return err({ type: "list-foreign" });
  const before = newestList(tx, aik);
  if (before === undefined) keepList(tx, oldest);
  const newest = follow(tx, before ?? oldest, lists);
  if (!newest.ok) return newest;
  // A relay that only has older lists than ours hides the newer ones.
  const rolledBack = before !== undefined && lists.every((list) => list.version < before.version);
  return rolledBack ? err({ type: "list-rollback" }) : ok(changeBetween(before, newest.value));
}

/** The newest list of an account that follows the chain. */
export function newestList(tx: ReadTx, aik: string): DeviceList | undefined {
  const row = newestDeviceList(tx, aik);
  return row === undefined ? undefined : storedList(row);
}

/** Lists that judge an account's devices: the newest one, and after a fork its rivals too. */
export function judgingLists(tx: ReadTx, aik: string): readonly DeviceList[] {
  const newest = newestList(tx, aik);
  const rivals = rivalLists(tx, aik).map(storedList);
  return newest === undefined ? rivals : [newest, ...rivals];
}

/** Why nothing is sent to an account's devices, if so. */
export function listStopped(tx: ReadTx, aik: string): StopReason | undefined {
  const stopped = getSetting(tx, stoppedPrefix + aik);
  return stopReasons.find((reason) => reason === stopped);
}

/** Stops sending to an account, until its owner is asked in person. The first reason stays. */
export function stopSendingTo(tx: WriteTx, aik: string, reason: StopReason): void {
  if (listStopped(tx, aik) !== undefined) return;
  putSetting(tx, stoppedPrefix + aik, reason);
  updateContact(tx, aik, { stopped: reason });
}

/** Starts an account's history anew, because its owner handed over a new invite in person. */
export function restartLists(tx: WriteTx, aik: string): void {
  forgetLists(tx, aik);
  resumeSendingTo(tx, aik);
}

/** Sends to an account again: its owner was asked in person. */
export function resumeSendingTo(tx: WriteTx, aik: string): void {
  putSetting(tx, stoppedPrefix + aik, "");
  updateContact(tx, aik, { stopped: null });
}

/** Whether the view of our own list that a sender had is one that we know. */
export function compareView(
  tx: ReadTx,
  aik: string,
  view: { readonly version: number; readonly hashPrefix: Uint8Array },
): "current" | "older" | "newer" | "contradicts" | "unknown" {
  const newest = newestDeviceList(tx, aik);
  if (newest === undefined) return "unknown";
  if (view.version > newest.version) return "newer";
  const row = deviceListAt(tx, aik, view.version);
  if (row === undefined) return "unknown";
  const hash = idFromText(row.hash, 32);
  if (!equalBytes(hash.subarray(0, view.hashPrefix.length), view.hashPrefix)) return "contradicts";
  return view.version === newest.version ? "current" : "older";
}

/** A plain sentence about why sending stopped. */
export function stoppedReason(stopped: StopReason): string {
  return `${stoppedWhat[stopped]}; sending stopped. ${stoppedAsk[stopped]}`;
}

const inviteAgain = "Compare in person and accept a new invite from them there";
const stoppedAsk: Readonly<Record<StopReason, string>> = {
  "list-fork": inviteAgain,
  "list-chain": inviteAgain,
  "renewal-fork": "Compare safety numbers in person: pixie contact choose shows one for each key",
};

const stoppedWhat: Readonly<Record<StopReason, string>> = {
  "list-fork": "two different device lists of the same version were signed with this person's key",
  "list-chain": "this person's device list does not follow the one known before",
  "renewal-fork": "two different keys claim to have taken over from this person's key",
};

function follow(
  tx: WriteTx,
  known: DeviceList,
  lists: readonly DeviceList[],
): Result<DeviceList, ListFault> {
  let newest = known;
  for (const list of lists) {
    const step = checkSuccessor(newest, list);
    if (step.ok && step.value === "next") {
      keepList(tx, list);
      newest = list;
    }
    const fault = step.ok ? undefined : faultOf(tx, newest, list, step.error);
    if (fault !== undefined) return err(fault);
  }
  return ok(newest);
}

function faultOf(
  tx: WriteTx,
  newest: DeviceList,
  list: DeviceList,
  error: SuccessorError,
): ListFault | undefined {
  switch (error.type) {
    case "list-rollback":
      return contradicts(tx, list) ? keepRival(tx, list, "list-fork") : undefined;
    case "list-gap":
      return { type: "list-gap", knownVersion: newest.version };
    case "list-fork":
    case "list-chain":
      return keepRival(tx, list, error.type);
    case "list-foreign":
    case "list-malformed":
      return error;
    default:
      return assertNever(error);
  }
}

/** Whether another list of that version was kept. Before the pinned one there is nothing to say. */
function contradicts(tx: ReadTx, list: DeviceList): boolean {
  const row = deviceListAt(tx, idText(list.aik), list.version);
  return row !== undefined && row.hash !== idText(list.hash);
}

function keepRival(tx: WriteTx, rival: DeviceList, type: "list-fork" | "list-chain"): ListFault {
  const aik = idText(rival.aik);
  if (rivalLists(tx, aik).length < maxRivals) {
    addRivalList(tx, { aik, hash: idText(rival.hash), record: rival.record });
  }
  stopSendingTo(tx, aik, type);
  return { type };
}

function keepList(tx: WriteTx, list: DeviceList): void {
  addDeviceList(tx, {
    aik: idText(list.aik),
    version: list.version,
    hash: idText(list.hash),
    record: list.record,
  });
}

function changeBetween(before: DeviceList | undefined, newest: DeviceList): ListChange {
  if (before === undefined) return { newest, pinned: true, added: [], revoked: [] };
  return {
    newest,
    pinned: false,
    added: liveEntries(newest).filter((entry) => entryOf(before, entry.deviceId) === undefined),
    revoked: liveEntries(before).filter(
      (entry) =>
        (entryOf(newest, entry.deviceId)?.state ?? deviceState.revoked) === deviceState.revoked,
    ),
  };
}

/** Lists read lately, by the hash that names them: every message asks for two. */
const readLately = new Map<string, DeviceList>();
const maxReadLately = 256;

/** A record that was verified before it was stored; one that no longer verifies is a bug. */
function storedList(row: { readonly hash: string; readonly record: Uint8Array }): DeviceList {
  const known = readLately.get(row.hash);
  if (known !== undefined) return known;
  const list = parseDeviceList(row.record);
  if (!list.ok) throw new Error(`a stored device list does not verify: ${list.error.type}`);
  if (readLately.size >= maxReadLately) readLately.clear();
  readLately.set(row.hash, list.value);
  return list.value;
}
