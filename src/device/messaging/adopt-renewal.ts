/**
 * Our own account under its new identity key, in one transaction: everything that names it follows, own
 * devices are handed their keys, contacts are told, and whatever nobody confirmed is sealed again under
 * the new certificate, because the old one is heard no more.
 *
 * What tells of the renewal is certified under the old key and goes first in every queue: whoever reads
 * the rest has to know the new key by then. Spec: docs/protocol.md "Renewal of an account".
 */
import { idText } from "../../shared/ids.ts";
import { signingKeyPair } from "../../shared/crypto/sodium.ts";
import { randomFraction } from "../../shared/rng.ts";
import { encodeOwnKeys } from "../crypto/payload.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { deviceState } from "../../shared/crypto/device-list.ts";
import { closeOwnInvite } from "../identity/invites.ts";
import { newestList } from "../identity/lists.ts";
import { certificateUnder, siblingsUnder, wasMadeHere } from "../identity/renew.ts";
import { allContacts } from "../store/contacts.ts";
import { getOwnAccount, getOwnDevice, putOwnAccount, putOwnDevice } from "../store/identity.ts";
import { allInvites } from "../store/invites.ts";
import { addOutgoing, type Outgoing } from "../store/outbox.ts";
import { bindToKey, moveBehind, openRows } from "../store/outbox-due.ts";
import {
  deleteOtherCertificate,
  markFollowed,
  otherCertificateOf,
  putOtherCertificate,
  type RenewalRow,
} from "../store/renewals.ts";
import { rekeyAccount } from "../store/rekey.ts";
import type { WriteTx } from "../store/sqlite.ts";
import { applyEvents } from "./outbox-rows.ts";
import type { AnswerMoment } from "./payload.ts";

/** Makes a renewal count that the relay has taken. False: it counts already, or does not concern us. */
export function adoptRenewal(tx: WriteTx, row: RenewalRow, moment: AnswerMoment): boolean {
  const { oldAik, newAik } = row;
  const account = getOwnAccount(tx);
  const device = getOwnDevice(tx);
  const given = otherCertificateOf(tx, newAik);
  if (account?.aik !== oldAik || device?.certificate == null || given === undefined) return false;
  putOtherCertificate(tx, { aik: oldAik, certificate: device.certificate, aikSeed: null });
  deleteOtherCertificate(tx, newAik);
  markFollowed(tx, oldAik, newAik);
  rekeyAccount(tx, oldAik, newAik);
  putOwnAccount(tx, { ...account, aik: newAik, aikSeed: given.aikSeed });
  putOwnDevice(tx, { ...device, certificate: given.certificate });
  // Whoever was removed knows their secrets.
  for (const { inviteId } of allInvites(tx)) closeOwnInvite(tx, inviteId, moment.relayNowMs);
  // The proof in it names the old key: it makes us known, then the renewal follows.
  bindToKey(tx, payloadTag.contactAccept, oldAik);
  if (wasMadeHere(tx, newAik)) handOver(tx, row, moment);
  announce(tx, row, moment);
  moveBehind(tx);
  const now = { nowMs: moment.nowMs, fraction: randomFraction(moment.rng) };
  for (const key of openRows(tx)) applyEvents(tx, key, [{ type: "renewed" }], now);
  return true;
}

/** Own devices get the renewal, and each a certificate of its own; the key itself only admins. */
function handOver(tx: WriteTx, row: RenewalRow, moment: AnswerMoment): void {
  const aikSeed = getOwnAccount(tx)?.aikSeed;
  const list = newestList(tx, row.newAik);
  const siblings = siblingsUnder(tx, row.newAik, getOwnDevice(tx)?.deviceId);
  if (aikSeed == null || list === undefined || siblings.length === 0) return;
  const key = signingKeyPair(aikSeed);
  addOutgoing(tx, { ...underOldKey(row, moment), ...renewalFor(row, row.newAik) });
  for (const entry of siblings) {
    const certificate = certificateUnder(key, list, entry);
    const isAdmin = entry.state === deviceState.admin;
    addOutgoing(tx, {
      ...underOldKey(row, moment),
      recipientAik: row.newAik,
      typeTag: payloadTag.ownKeys,
      content: encodeOwnKeys(certificate, isAdmin ? aikSeed : undefined),
      onlyDevice: idText(entry.deviceId),
    });
  }
}

/** Every own device tells contacts, before anything else of its own: any of them may be heard first. */
function announce(tx: WriteTx, row: RenewalRow, moment: AnswerMoment): void {
  for (const { aik, relation } of allContacts(tx)) {
    if (relation !== "contact" && relation !== "invited") continue;
    addOutgoing(tx, { ...underOldKey(row, moment), ...renewalFor(row, aik) });
  }
}

function renewalFor(
  { record: content }: RenewalRow,
  recipientAik: string,
): Pick<Outgoing, "recipientAik" | "typeTag" | "content"> {
  return { recipientAik, typeTag: payloadTag.renewal, content };
}

function underOldKey(
  { oldAik: senderAik }: RenewalRow,
  { nowMs, relayNowMs, rng }: AnswerMoment,
): Omit<Outgoing, "recipientAik" | "typeTag" | "content"> {
  const messageId = idText(rng(16));
  return {
    messageId,
    flags: 0,
    sentMs: relayNowMs,
    notBeforeMs: nowMs,
    confirmed: true,
    senderAik,
  };
}
