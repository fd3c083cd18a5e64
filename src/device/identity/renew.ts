/**
 * Renewing our own account: drawing the key that takes over with its first list, and giving this device
 * and its siblings a place under it. What was drawn is stored before the relay is asked, so that a crash
 * at any point is mended by asking again; messaging/adopt-renewal.ts makes it count.
 *
 * Spec: docs/protocol.md "Renewal of an account". Times are relay time.
 */
import { signCertificate } from "../../shared/crypto/certificate.ts";
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
  liveEntries,
  signDeviceList,
} from "../../shared/crypto/device-list.ts";
import { signRenewal } from "../../shared/crypto/renewal.ts";
import { newSigningKey, type SigningKeyPair } from "../../shared/crypto/sodium.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import type { DeviceError } from "../device.ts";
import { forgetLists } from "../store/lists.ts";
import {
  addRenewal,
  deleteOtherCertificate,
  deleteRenewal,
  otherCertificateOf,
  putOtherCertificate,
  type RenewalRow,
  renewalsOf,
} from "../store/renewals.ts";
import { deleteSetting, getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { ownIdentity } from "./keys.ts";
import { learnLists, newestList } from "./lists.ts";

/** Names the key that this device drew itself: it hands out what belongs to it. */
const madeHereSetting = "renewal-made-here";

/**
 * Draws a renewal that removes those other devices (ids), and stores it. Errors: `not-admin`,
 * `renewal-under-way`.
 */
export function beginRenewal(
  tx: WriteTx,
  removed: readonly string[],
  { relayNowMs, rng }: { readonly relayNowMs: number; readonly rng: Rng },
): Result<undefined, DeviceError> {
  const own = ownIdentity(tx);
  const known = own === undefined ? undefined : newestList(tx, own.aikText);
  if (own?.aikKey === undefined || known === undefined) return err(notAdmin);
  if (isUnderWay(tx, own.aikText)) return err(underWay);
  const key = newSigningKey(rng);
  const issuedMs = BigInt(relayNowMs);
  const entries = known.entries.map((entry) =>
    removed.includes(idText(entry.deviceId))
      ? { ...entry, state: deviceState.revoked, changedMs: issuedMs }
      : entry,
  );
  const prevHash = new Uint8Array(32);
  const list = signDeviceList(
    { aik: key.publicKey, version: 1, issuedMs, prevHash, entries },
    key.privateKey,
  );
  const claim = { oldListVersion: known.version, oldListHash: known.hash, issuedMs };
  const { record } = signRenewal(claim, own.aikKey, key);
  const newAik = idText(key.publicKey);
  addRenewal(tx, { oldAik: own.aikText, newAik, record, followed: false, heardMs: relayNowMs });
  const device = entryOf(list, own.deviceId);
  if (device === undefined) throw new Error("this device is not in its own account's list");
  const certificate = certificateUnder(key, list, device);
  putOtherCertificate(tx, { aik: newAik, certificate, aikSeed: key.seed });
  learnLists(tx, newAik, [list]);
  putSetting(tx, madeHereSetting, newAik);
  return ok(undefined);
}

/** Certifies a device under the key that takes over. */
export function certificateUnder(
  key: SigningKeyPair,
  { version: listVersion, issuedMs }: DeviceList,
  { deviceId, dsk }: DeviceEntry,
): Uint8Array {
  const content = { aik: key.publicKey, deviceId, dsk, listVersion, issuedMs };
  return signCertificate(content, key.privateKey).record;
}

/** Whether this device drew that key. */
export function wasMadeHere(tx: ReadTx, newAik: string): boolean {
  return getSetting(tx, madeHereSetting) === newAik;
}

/** The devices that keep their place when that key takes over, this one left out. */
export function siblingsUnder(
  tx: ReadTx,
  newAik: string,
  deviceId: string | undefined,
): readonly DeviceEntry[] {
  const list = newestList(tx, newAik);
  const live = list === undefined ? [] : liveEntries(list);
  return live.filter((entry) => idText(entry.deviceId) !== deviceId);
}

/** Forgets a renewal of our own key that the relay did not take. */
export function dropRenewal(tx: WriteTx, row: RenewalRow): void {
  deleteRenewal(tx, row);
  deleteOtherCertificate(tx, row.newAik);
  forgetLists(tx, row.newAik);
  if (wasMadeHere(tx, row.newAik)) deleteSetting(tx, madeHereSetting);
}

function isUnderWay(tx: ReadTx, ownAik: string): boolean {
  return renewalsOf(tx, ownAik).some(({ newAik }) => otherCertificateOf(tx, newAik) !== undefined);
}

const notAdmin: DeviceError = {
  type: "not-admin",
  message: "this device cannot renew the account: use an admin device",
};

const underWay: DeviceError = {
  type: "renewal-under-way",
  message: "a renewal waits for the relay's answer: it goes on whenever this device is connected",
};
