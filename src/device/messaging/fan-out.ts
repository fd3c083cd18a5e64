/**
 * Whom a payload goes to: the devices of an account that are not revoked, each with the prekey to
 * seal to, and the key that lets us in at their relay. Read from the store at sealing time, never
 * at composing time; nothing is fetched here.
 *
 * Our own account is sent to like any other: every own device is addressed, this one included, so
 * that an echo does not name its author. With no sibling there is nobody to send to.
 *
 * Spec: docs/protocol.md "Metadata rules for the client" (2), "Prekey", "Sender state".
 */
import { type DeviceEntry, type DeviceList, liveEntries } from "../../shared/crypto/device-list.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { SealTarget } from "../crypto/seal.ts";
import { type DeliveryRoute, deliveryRoute, usablePrekey } from "../identity/bundles.ts";
import { newestList } from "../identity/lists.ts";
import { getContact } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import type { ReadTx } from "../store/sqlite.ts";

/** How to reach an account: its relay, and the key that its relay lets us in with. */
export interface Route extends DeliveryRoute {
  readonly ownAccount: boolean;
}

/** A device to seal to. */
export interface FanOutTarget extends SealTarget {
  readonly deviceIdText: string;
  readonly notBeforeMs: number;
}

/** Everyone that a payload concerns. */
export interface FanOut {
  readonly list: DeviceList;
  /** The account's devices that are not revoked. */
  readonly devices: readonly DeviceEntry[];
  readonly targets: readonly FanOutTarget[];
  /** Devices that cannot be sealed to: no prekey known, too old, or dated ahead. */
  readonly withoutPrekey: readonly string[];
}

export type NoRoute = { readonly type: "no-route"; readonly reason: string };

/** The route to an account. Errors say, for a person, why nothing can be sent there. */
export function routeTo(tx: ReadTx, aik: string): Result<Route, NoRoute> {
  const ownAccount = getOwnAccount(tx)?.aik === aik;
  const contact = getContact(tx, aik);
  if (!ownAccount && contact === undefined) return noRoute("nobody with that key is known");
  if (contact?.relation === "blocked") return noRoute("the contact is blocked");
  if (contact?.stopped != null) return noRoute(`sending is stopped: ${contact.stopped}`);
  const route = deliveryRoute(tx, aik);
  if (route === undefined) {
    return noRoute("no key to their mailbox is known yet: exchange an invite");
  }
  return ok({ ...route, ownAccount });
}

/**
 * The devices of an account as its newest known list has them; `undefined` when no list is known. `under`:
 * an earlier key of the account that its devices still go by, whose prekeys and list are used.
 */
export function fanOutTo(
  tx: ReadTx,
  aik: string,
  relayNowMs: number,
  under: string = aik,
): FanOut | undefined {
  const newest = newestList(tx, aik);
  const list = under === aik ? newest : newestList(tx, under);
  if (newest === undefined || list === undefined) return undefined;
  const targets: FanOutTarget[] = [];
  const withoutPrekey: string[] = [];
  const devices = liveEntries(newest);
  for (const entry of devices) {
    const target = targetOf(tx, under, entry, relayNowMs);
    if (target === undefined) withoutPrekey.push(idText(entry.deviceId));
    else targets.push(target);
  }
  return { list, devices, targets, withoutPrekey };
}

function targetOf(
  tx: ReadTx,
  aik: string,
  entry: DeviceEntry,
  relayNowMs: number,
): FanOutTarget | undefined {
  const prekey = usablePrekey(tx, aik, entry, relayNowMs);
  if (prekey === undefined) return undefined;
  return {
    deviceId: entry.deviceId,
    deviceIdText: idText(entry.deviceId),
    mailbox: entry.mailbox,
    prekey,
    notBeforeMs: Number(prekey.notBeforeMs),
  };
}

function noRoute(reason: string): { readonly ok: false; readonly error: NoRoute } {
  return err({ type: "no-route", reason });
}
