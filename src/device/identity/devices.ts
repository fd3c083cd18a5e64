/**
 * The devices of our own account: the next signed list when one joins or leaves, the request that
 * makes the relay take it only if nobody else was faster, and how they are shown.
 *
 * Only a device that holds the account's private key can sign. A list is announced to others only
 * after the relay has taken it.
 *
 * Spec: docs/protocol.md "Device list", "Linking" (step 4), "Removal". Times are relay time.
 */
import { type Certificate, signCertificate } from "../../shared/crypto/certificate.ts";
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
  liveEntries,
  signDeviceList,
} from "../../shared/crypto/device-list.ts";
import type { SigningKeyPair } from "../../shared/crypto/sodium.ts";
import { idText } from "../../shared/ids.ts";
import { maxDevices, revokedEntryMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { DeviceError, DeviceView, Identity } from "../device.ts";
import { getOwnAccount, getOwnDevice } from "../store/identity.ts";
import { siblingName } from "../store/device-names.ts";
import { peerPrekeyOf } from "../store/lists.ts";
import type { ReadTx } from "../store/sqlite.ts";
import { ownIdentity } from "./keys.ts";
import { newestList } from "./lists.ts";

/** A device that may join: its public half. */
export interface JoiningDevice {
  readonly deviceId: Uint8Array;
  readonly dsk: Uint8Array;
  readonly mailbox: Uint8Array;
}

/** A list to offer the relay, and the one that it must follow. */
export interface ListProposal {
  readonly list: DeviceList;
  readonly request: {
    readonly type: "update-device-list";
    readonly expectedVersion: number;
    readonly expectedHash: Uint8Array;
    readonly deviceList: Uint8Array;
  };
}

/** The next list with one more device, which is no admin. Errors: `not-admin`, `too-many-devices`, `device-known`. */
export function listWithDevice(
  tx: ReadTx,
  device: JoiningDevice,
  relayNowMs: number,
): Result<ListProposal, DeviceError> {
  const base = signingBase(tx);
  if (!base.ok) return base;
  const { known } = base.value;
  if (entryOf(known, device.deviceId) !== undefined) {
    return refuse("device-known", "this device is or was in the account: link it with new keys");
  }
  if (liveEntries(known).length >= maxDevices) {
    return refuse(
      "too-many-devices",
      `the account has ${maxDevices} devices, the most there can be: revoke one first`,
    );
  }
  const nowMs = BigInt(relayNowMs);
  const entry = { ...device, addedMs: nowMs, state: deviceState.active, changedMs: nowMs };
  return ok(propose(base.value, [...known.entries, entry], nowMs));
}

/**
 * The next list with one device revoked. Errors: `not-admin`, `no-device`, `device-revoked`, and
 * `device-admin`: an admin holds the account's key, so only a renewal removes it.
 */
export function listWithoutDevice(
  tx: ReadTx,
  deviceId: Uint8Array,
  relayNowMs: number,
): Result<ListProposal, DeviceError> {
  const base = signingBase(tx);
  if (!base.ok) return base;
  const entry = entryOf(base.value.known, deviceId);
  if (entry === undefined) return refuse("no-device", "the account has no device of that id");
  if (entry.state === deviceState.revoked) {
    return refuse("device-revoked", "that device is revoked already");
  }
  if (entry.state === deviceState.admin) {
    return refuse(
      "device-admin",
      "that device holds the account's key: pixie device renew --remove takes the key from it",
    );
  }
  const nowMs = BigInt(relayNowMs);
  const entries = base.value.known.entries.map((each) =>
    each === entry ? { ...each, state: deviceState.revoked, changedMs: nowMs } : each,
  );
  return ok(propose(base.value, entries, nowMs));
}

/** Certifies a device of a list that the relay has taken. Errors: `not-admin`. */
export function certifyDevice(
  tx: ReadTx,
  device: JoiningDevice,
  list: DeviceList,
): Result<Certificate, DeviceError> {
  const base = signingBase(tx);
  if (!base.ok) return base;
  const { aikKey } = base.value;
  return ok(
    signCertificate(
      {
        aik: aikKey.publicKey,
        deviceId: device.deviceId,
        dsk: device.dsk,
        listVersion: list.version,
        issuedMs: list.issuedMs,
      },
      aikKey.privateKey,
    ),
  );
}

/** The devices of this account, in the order in which they joined. */
export function deviceViews(tx: ReadTx): readonly DeviceView[] {
  const aik = getOwnAccount(tx)?.aik;
  const thisDevice = getOwnDevice(tx)?.deviceId;
  const list = aik === undefined ? undefined : newestList(tx, aik);
  if (aik === undefined || list === undefined) return [];
  return list.entries.map((entry) => deviceView(tx, aik, entry, thisDevice));
}

/** One device of this account. `undefined` when the list has none of that id. */
export function deviceViewOf(tx: ReadTx, deviceId: Uint8Array): DeviceView | undefined {
  return deviceViews(tx).find((view) => view.deviceId === idText(deviceId));
}

/** This device as others see it; `undefined` until it is registered or linked. */
export function identityView(tx: ReadTx): Identity | undefined {
  const own = ownIdentity(tx);
  if (own === undefined) return undefined;
  const list = newestList(tx, own.aikText);
  const entry = list === undefined ? undefined : entryOf(list, own.deviceId);
  return {
    aik: own.aikText,
    accountName: own.accountName,
    deviceId: idText(own.deviceId),
    deviceName: own.deviceName,
    admin: entry?.state === deviceState.admin && own.aikKey !== undefined,
    relayOrigin: own.relayOrigin,
    listVersion: list?.version ?? 0,
  };
}

interface SigningBase {
  readonly known: DeviceList;
  readonly aikKey: SigningKeyPair;
}

function signingBase(tx: ReadTx): Result<SigningBase, DeviceError> {
  const own = ownIdentity(tx);
  const known = own === undefined ? undefined : newestList(tx, own.aikText);
  if (own?.aikKey === undefined || known === undefined) {
    return refuse(
      "not-admin",
      "this device cannot change the account's devices: use an admin device",
    );
  }
  return ok({ known, aikKey: own.aikKey });
}

function propose(
  { known, aikKey }: SigningBase,
  entries: readonly DeviceEntry[],
  nowMs: bigint,
): ListProposal {
  const list = signDeviceList(
    {
      aik: known.aik,
      version: known.version + 1,
      issuedMs: nowMs,
      prevHash: known.hash,
      entries: entries.filter(
        (entry) =>
          entry.state !== deviceState.revoked || nowMs <= entry.changedMs + BigInt(revokedEntryMs),
      ),
    },
    aikKey.privateKey,
  );
  return {
    list,
    request: {
      type: "update-device-list",
      expectedVersion: known.version,
      expectedHash: known.hash,
      deviceList: list.record,
    },
  };
}

/** What the newest list says of a device of our own account. */
export function ownDeviceStanding(tx: ReadTx, deviceId: string): "live" | "revoked" | "unknown" {
  const view = deviceViews(tx).find((device) => device.deviceId === deviceId);
  if (view === undefined) return "unknown";
  return view.state === "revoked" ? "revoked" : "live";
}

/** One of our other devices that is not revoked, by name or id. Errors: `no-such-device`, `ambiguous-device`. */
export function findSibling(tx: ReadTx, nameOrId: string): Result<DeviceView, DeviceError> {
  const wanted = nameOrId.trim().toLowerCase();
  const others = deviceViews(tx).filter(
    ({ state, thisDevice }) => state !== "revoked" && !thisDevice,
  );
  const fitting = others.filter(
    ({ deviceId, name }) => deviceId === nameOrId.trim() || name?.toLowerCase() === wanted,
  );
  const [found, another] = fitting;
  if (found !== undefined && another === undefined) return ok(found);
  const known = others.map(({ deviceId, name }) => name ?? deviceId).join(", ");
  const expected = known === "" ? "this account has no other device" : `expected one of ${known}`;
  return found === undefined
    ? refuse("no-such-device", `${expected}, got ${JSON.stringify(nameOrId)}`)
    : refuse("ambiguous-device", `several devices are called ${nameOrId}: give the id`);
}

function deviceView(
  tx: ReadTx,
  aik: string,
  entry: DeviceEntry,
  thisDevice: string | undefined,
): DeviceView {
  const deviceId = idText(entry.deviceId);
  return {
    deviceId,
    name: deviceId === thisDevice ? getOwnDevice(tx)?.name : siblingName(tx, deviceId),
    state: stateName[entry.state],
    thisDevice: deviceId === thisDevice,
    addedMs: Number(entry.addedMs),
    hasPrekey: peerPrekeyOf(tx, aik, deviceId) !== undefined,
  };
}

const stateName = {
  [deviceState.active]: "active",
  [deviceState.admin]: "admin",
  [deviceState.revoked]: "revoked",
} as const;

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
