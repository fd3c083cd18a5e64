/**
 * The signed device list of an account: which devices it has, with which keys and mailboxes. Lists
 * form a chain by hash; whoever holds one version can check every later one against it.
 *
 * Owns the record and the rules between neighbours of the chain. Which version to trust, and what
 * to do about a fork, is for its readers (relay store, device contacts).
 *
 * Spec: docs/protocol.md "Records" (device list).
 */
import { ByteReader, concat, equalBytes, u32, u64, u8 } from "../bytes.ts";
import { idText } from "../ids.ts";
import { maxDevices, protocolVersion, revokedEntryMs } from "../limits.ts";
import { err, ok, type Result } from "../result.ts";
import { blake2b, sign, signatureBytes, verify } from "./sodium.ts";

const label = "PX1 device-list";
const prefixBytes = 78;
const entryBytes = 81;
/** The count is one byte. */
const maxEntries = 255;

/** State byte of an entry. `admin` is informative: what counts is who holds the account's key. */
export const deviceState = { active: 0, admin: 1, revoked: 2 } as const;
export type DeviceState = (typeof deviceState)[keyof typeof deviceState];

/** One device of an account. Times in ms, relay time. */
export interface DeviceEntry {
  readonly deviceId: Uint8Array;
  readonly dsk: Uint8Array;
  readonly mailbox: Uint8Array;
  readonly addedMs: bigint;
  readonly state: DeviceState;
  readonly changedMs: bigint;
}

/** What an account signs. `prevHash` is zero in version 1. */
export interface DeviceListContent {
  readonly aik: Uint8Array;
  readonly version: number;
  readonly issuedMs: bigint;
  readonly prevHash: Uint8Array;
  readonly entries: readonly DeviceEntry[];
}

/** A list whose form and signature were verified. */
export interface DeviceList extends DeviceListContent {
  /** The whole record, signature included. */
  readonly record: Uint8Array;
  /** BLAKE2b-256 of the record: the name of this version in chains, views and compare-and-set. */
  readonly hash: Uint8Array;
}

export type DeviceListError =
  | { readonly type: "list-malformed"; readonly reason: string }
  | { readonly type: "list-signature" };

export type SuccessorError =
  | { readonly type: "list-foreign" }
  | { readonly type: "list-rollback" }
  | { readonly type: "list-fork" }
  | { readonly type: "list-gap" }
  | { readonly type: "list-chain" }
  | { readonly type: "list-malformed"; readonly reason: string };

/** Signs a list. The content must be well formed: anything else is a bug of the caller. */
export function signDeviceList(content: DeviceListContent, aikPrivateKey: Uint8Array): DeviceList {
  const flaw = flawOf(content);
  if (flaw !== undefined) throw new Error(`refusing to sign a malformed device list: ${flaw}`);
  const unsigned = concat(
    u8(protocolVersion),
    content.aik,
    u32(content.version),
    u64(content.issuedMs),
    content.prevHash,
    u8(content.entries.length),
    ...content.entries.map((entry) =>
      concat(
        entry.deviceId,
        entry.dsk,
        entry.mailbox,
        u64(entry.addedMs),
        u8(entry.state),
        u64(entry.changedMs),
      ),
    ),
  );
  const record = concat(unsigned, sign(aikPrivateKey, label, unsigned));
  return { ...content, record, hash: blake2b(32, record) };
}

/** Parses and verifies one list on its own. Which account it must belong to is the caller's check. */
export function parseDeviceList(record: Uint8Array): Result<DeviceList, DeviceListError> {
  const count = record[prefixBytes - 1];
  if (count === undefined || record.length !== prefixBytes + entryBytes * count + signatureBytes) {
    return malformed(`${record.length} bytes is no length of a device list`);
  }
  const reader = new ByteReader(record);
  const version = reader.u8();
  if (version !== protocolVersion) return malformed(`record version ${version}`);
  const content: DeviceListContent = {
    aik: reader.take(32),
    version: reader.u32(),
    issuedMs: reader.u64(),
    prevHash: reader.take(32),
    entries: Array.from({ length: reader.u8() }, () => readEntry(reader)),
  };
  const flaw = unknownState(record) ?? flawOf(content);
  if (flaw !== undefined) return malformed(flaw);
  const unsigned = record.subarray(0, record.length - signatureBytes);
  const signature = record.subarray(record.length - signatureBytes);
  if (!verify(content.aik, signature, label, unsigned)) return err({ type: "list-signature" });
  return ok({ ...content, record: record.slice(), hash: blake2b(32, record) });
}

/**
 * Whether `next` may follow `known`, the newest list that the caller holds.
 *
 * Returns `unchanged` for the very same list. Errors: `list-foreign` another account's,
 * `list-rollback` older, `list-fork` the same version with other content, `list-gap` newer by more
 * than one (fetch what lies between), `list-chain` the next version that does not build on `known`,
 * `list-malformed` an entry that changed what must never change.
 */
export function checkSuccessor(
  known: DeviceList,
  next: DeviceList,
): Result<"unchanged" | "next", SuccessorError> {
  if (!equalBytes(known.aik, next.aik)) return err({ type: "list-foreign" });
  if (next.version < known.version) return err({ type: "list-rollback" });
  if (next.version === known.version) {
    return equalBytes(known.hash, next.hash) ? ok("unchanged") : err({ type: "list-fork" });
  }
  if (next.version > known.version + 1) return err({ type: "list-gap" });
  if (!equalBytes(next.prevHash, known.hash)) return err({ type: "list-chain" });
  const flaw = entryFlaw(known, next);
  return flaw === undefined ? ok("next") : malformed(flaw);
}

/** Follows a chain upwards from `known`, oldest first. Returns the newest list that it reaches. */
export function followChain(
  known: DeviceList,
  lists: readonly DeviceList[],
): Result<DeviceList, SuccessorError> {
  let newest = known;
  for (const list of lists) {
    const step = checkSuccessor(newest, list);
    if (!step.ok) return step;
    newest = list;
  }
  return ok(newest);
}

/** The entry of a device, revoked or not. */
export function entryOf(list: DeviceListContent, deviceId: Uint8Array): DeviceEntry | undefined {
  return list.entries.find((entry) => equalBytes(entry.deviceId, deviceId));
}

/** Entries that may send and receive. */
export function liveEntries(list: DeviceListContent): readonly DeviceEntry[] {
  return list.entries.filter((entry) => entry.state !== deviceState.revoked);
}

const states: readonly DeviceState[] = Object.values(deviceState);

function readEntry(reader: ByteReader): DeviceEntry {
  return {
    deviceId: reader.take(16),
    dsk: reader.take(32),
    mailbox: reader.take(16),
    addedMs: reader.u64(),
    // An unknown byte reads as revoked here and makes the list malformed right after.
    state: states[reader.u8()] ?? deviceState.revoked,
    changedMs: reader.u64(),
  };
}

function unknownState(record: Uint8Array): string | undefined {
  const body = record.subarray(prefixBytes, record.length - signatureBytes);
  const stateOffset = 72;
  for (let at = stateOffset; at < body.length; at += entryBytes) {
    if (states[body[at] ?? 0] === undefined) return `unknown device state ${body[at]}`;
  }
  return undefined;
}

function flawOf(content: DeviceListContent): string | undefined {
  const { entries, version, prevHash } = content;
  if (version === 0) return "version 0";
  if (entries.length === 0) return "no devices";
  if (entries.length > maxEntries) return `more than ${maxEntries} entries`;
  if (!entries.some((entry) => entry.state === deviceState.admin)) return "no admin device";
  for (const field of ["deviceId", "dsk", "mailbox"] as const) {
    if (new Set(entries.map((entry) => idText(entry[field]))).size !== entries.length) {
      return `two devices with the same ${field}`;
    }
  }
  if (liveEntries(content).length > maxDevices)
    return `more than ${maxDevices} devices not revoked`;
  const zeroPrev = prevHash.every((byte) => byte === 0);
  if (zeroPrev !== (version === 1)) return "previous hash does not suit the version";
  return undefined;
}

function entryFlaw(known: DeviceList, next: DeviceList): string | undefined {
  for (const before of known.entries) {
    const after = entryOf(next, before.deviceId);
    if (after === undefined) {
      const gone =
        before.state === deviceState.revoked &&
        next.issuedMs > before.changedMs + BigInt(revokedEntryMs);
      if (!gone) return "a device is missing that must still be listed";
      continue;
    }
    if (
      !equalBytes(before.dsk, after.dsk) ||
      !equalBytes(before.mailbox, after.mailbox) ||
      before.addedMs !== after.addedMs
    ) {
      return "a device changed its key, mailbox or date";
    }
    if (before.state === deviceState.revoked && after.state !== deviceState.revoked) {
      return "a revoked device came back";
    }
  }
  return undefined;
}

function malformed(reason: string): {
  readonly ok: false;
  readonly error: { readonly type: "list-malformed"; readonly reason: string };
} {
  return err({ type: "list-malformed", reason });
}
