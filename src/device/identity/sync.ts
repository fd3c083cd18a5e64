/**
 * What a person's own devices tell each other beside messages: people, invites, and earlier
 * conversations for a device that joined. Each note stands alone, may come twice and in any order,
 * and never overwrites what a device knows first-hand.
 *
 * Notes are ordinary `sync` payloads to the own account. A device that was just linked cannot be
 * sealed to before it has published a prekey: what it is owed is remembered until then.
 *
 * Spec: docs/protocol.md "Notes to siblings", "Linking".
 */
import { type DeviceEntry, deviceState, liveEntries } from "../../shared/crypto/device-list.ts";
import { idText, randomId } from "../../shared/ids.ts";
import type { Rng } from "../../shared/rng.ts";
import { encodeSync } from "../crypto/payload.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { siblingNames } from "../store/device-names.ts";
import { allContacts } from "../store/contacts.ts";
import { getOwnDevice } from "../store/identity.ts";
import { allInvites } from "../store/invites.ts";
import { newestDeviceList } from "../store/lists.ts";
import { allMessageRows } from "../store/messages.ts";
import { addOutgoing } from "../store/outbox.ts";
import { deleteSetting, getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { usablePrekey } from "./bundles.ts";
import type { OwnIdentity } from "./keys.ts";
import { newestList } from "./lists.ts";
import { contactJson, inviteJson, messageJson, type SyncRecord } from "./sync-records.ts";

/** One note's worth of JSON: it fits the second largest bucket with room for its frame. */
const pageBytes = 60_000;
/** The largest record: what the largest bucket holds, less the frame of a note. */
const maxRecordBytes = 261_600;
/** History for a new device: the newest messages, at most this much. A mailbox holds 20 MiB. */
const maxHistoryBytes = 4 * 1_048_576;
const owedSetting = "sync-owed";
const namesSetting = "names-told";
const recoveredSetting = "recovered-here";

/** When a note is made, and with which randomness. `nowMs` is this device's clock, as the outbox uses. */
export interface SyncMoment {
  readonly nowMs: number;
  readonly rng: Rng;
}

/** Tells siblings about people: all of them, or those named. */
export function queueContacts(
  tx: WriteTx,
  own: OwnIdentity,
  moment: SyncMoment,
  aiks?: readonly string[],
): void {
  const people = allContacts(tx).filter((row) => aiks?.includes(row.aik) ?? true);
  const records = people.map((row) => contactJson(row, newestDeviceList(tx, row.aik)?.record));
  queuePages(tx, own, moment, { topic: "contacts", pages: paged(records) });
}

/** Tells siblings about invites, closed ones included: a guest may reach any device first. */
export function queueInvites(tx: WriteTx, own: OwnIdentity, moment: SyncMoment): void {
  const records = allInvites(tx).map(inviteJson);
  queuePages(tx, own, moment, { topic: "invites", pages: paged(records) });
}

/**
 * Tells siblings what this device is called, and what it knows of the others' names, whenever there is
 * somebody new who can be sealed to. Call it whenever our own bundle was learned.
 */
export function queueNames(
  tx: WriteTx,
  own: OwnIdentity,
  relayNowMs: number,
  moment: SyncMoment,
): void {
  const list = newestList(tx, own.aikText);
  const ownId = idText(own.deviceId);
  const readers = (list === undefined ? [] : liveEntries(list))
    .filter((entry) => usablePrekey(tx, own.aikText, entry, relayNowMs) !== undefined)
    .map((entry) => idText(entry.deviceId))
    .filter((deviceId) => deviceId !== ownId);
  const told = [own.deviceName, ...readers].join(" ");
  if (readers.length === 0 || getSetting(tx, namesSetting) === told) return;
  putSetting(tx, namesSetting, told);
  const names = new Map([...siblingNames(tx), [ownId, own.deviceName]]);
  const records = Array.from(names, ([deviceId, name]) => ({ device_id: deviceId, name }));
  queuePages(tx, own, moment, { topic: "devices", pages: paged(records) });
}

/** Remembers that a device that joined is owed people, invites and history. */
export function oweSync(tx: WriteTx, deviceId: string): void {
  putSetting(tx, owedSetting, [...new Set([...owedDevices(tx), deviceId])].join(" "));
}

/**
 * Remembers what a device is owed that joined without one of us: it came with the recovery code, which is
 * why it is an admin, and knows nobody. Call it with what a delivery of our own lists added.
 */
export function oweRecovered(tx: WriteTx, added: readonly DeviceEntry[]): void {
  const ownId = getOwnDevice(tx)?.deviceId;
  for (const { deviceId, state } of added) {
    const id = idText(deviceId);
    if (state === deviceState.admin && id !== ownId) oweSync(tx, id);
  }
}

/** A device that recovered brought a new access key: whom it learns of from siblings is to be told. */
export function tellKeyToWhomWeLearnOf(tx: WriteTx): void {
  putSetting(tx, recoveredSetting, "yes");
}

/** Whether that holds for this device. */
export function tellsKeyToWhomItLearnsOf(tx: ReadTx): boolean {
  return getSetting(tx, recoveredSetting) !== undefined;
}

/** Whether a device still waits for its first notes. */
export function isOwedSync(tx: ReadTx, deviceId: string): boolean {
  return owedDevices(tx).includes(deviceId);
}

/** Whether any device still waits for its first notes. */
export function anyOwedSync(tx: ReadTx): boolean {
  return owedDevices(tx).length > 0;
}

/**
 * Queues what devices are owed that can be sealed to by now; call it whenever our own bundle was
 * learned. Returns how many devices were served.
 */
export function payOwedSync(
  tx: WriteTx,
  own: OwnIdentity,
  relayNowMs: number,
  moment: SyncMoment,
): number {
  const owed = owedDevices(tx);
  const list = owed.length === 0 ? undefined : newestList(tx, own.aikText);
  if (list === undefined) return 0;
  const live = liveEntries(list);
  const ready = live.filter(
    (entry) =>
      owed.includes(idText(entry.deviceId)) &&
      usablePrekey(tx, own.aikText, entry, relayNowMs) !== undefined,
  );
  if (ready.length > 0) {
    queueContacts(tx, own, moment);
    queueInvites(tx, own, moment);
    queueHistory(tx, own, moment);
  }
  // A device that was revoked meanwhile is owed nothing.
  const waiting = live
    .filter((entry) => !ready.includes(entry))
    .map((entry) => idText(entry.deviceId))
    .filter((deviceId) => owed.includes(deviceId));
  if (waiting.length === 0) deleteSetting(tx, owedSetting);
  else putSetting(tx, owedSetting, waiting.join(" "));
  return ready.length;
}

function queueHistory(tx: WriteTx, own: OwnIdentity, moment: SyncMoment): void {
  const records: SyncRecord[] = [];
  let [bytes, leftOut] = [0, 0];
  for (const row of allMessageRows(tx).toReversed()) {
    const record = messageJson(row);
    const size = sizeOf(record);
    bytes += size;
    // One that fills an envelope by itself has no room for a note around it.
    if (bytes > maxHistoryBytes || size > maxRecordBytes) leftOut += 1;
    else records.push(record);
  }
  queuePages(tx, own, moment, { topic: "history", pages: paged(records.toReversed()), leftOut });
}

interface Pages {
  readonly topic: "contacts" | "invites" | "history" | "devices";
  readonly pages: readonly (readonly SyncRecord[])[];
  /** Records that stay on this device because they are too many or too large; told to the reader. */
  readonly leftOut?: number;
}

function queuePages(
  tx: WriteTx,
  own: OwnIdentity,
  { nowMs, rng }: SyncMoment,
  { topic, pages, leftOut = 0 }: Pages,
): void {
  for (const items of pages) {
    addOutgoing(tx, {
      messageId: idText(randomId(rng)),
      recipientAik: own.aikText,
      typeTag: payloadTag.sync,
      flags: 0,
      content: encodeSync(topic, leftOut === 0 ? { items } : { items, left_out: leftOut }),
      sentMs: nowMs,
      notBeforeMs: nowMs,
      confirmed: true,
    });
  }
}

/** Cuts records into pages; a record that is larger than a page has one to itself. */
function paged(records: readonly SyncRecord[]): readonly (readonly SyncRecord[])[] {
  const pages: SyncRecord[][] = [];
  let bytes = pageBytes;
  for (const record of records) {
    const size = sizeOf(record);
    if (bytes + size > pageBytes) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(record);
    bytes += size;
  }
  return pages;
}

function sizeOf(record: SyncRecord): number {
  return Buffer.byteLength(JSON.stringify(record)) + 1;
}

function owedDevices(tx: ReadTx): readonly string[] {
  const text = getSetting(tx, owedSetting) ?? "";
  return text === "" ? [] : text.split(" ");
}
