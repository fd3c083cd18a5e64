/**
 * Hearing that an identity key was renewed: another key takes the place that the old one had among people,
 * with the same conversation, and is no longer verified. Two keys that both say so stop sending to that
 * person until somebody has asked them.
 *
 * That both keys signed was verified before. Spec: docs/protocol.md "Renewal of an account".
 */
import type { Renewal } from "../../shared/crypto/renewal.ts";
import { idText } from "../../shared/ids.ts";
import { deleteContact, getContact, putContact, updateContact } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import { rekeyAccount } from "../store/rekey.ts";
import {
  addRenewal,
  currentKeyOf,
  markFollowed,
  renewalsOf,
  replacedBy,
} from "../store/renewals.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { resumeSendingTo, stopSendingTo } from "./lists.ts";

/** What a renewal did. `refused`: it leads back to itself, or to us. */
export type HeardRenewal = "known" | "followed" | "stopped" | "refused";

/** Renewals kept of one key. Sending has stopped after the second: more change nothing. */
const maxRenewals = 8;

/** Takes in the renewal of a contact's key. Units: `relayNowMs` of our relay. */
export function hearRenewal(tx: WriteTx, renewal: Renewal, relayNowMs: number): HeardRenewal {
  const [oldAik, newAik] = [idText(renewal.oldAik), idText(renewal.newAik)];
  const heard = renewalsOf(tx, oldAik);
  if (heard.length >= maxRenewals || heard.some((row) => row.newAik === newAik)) return "known";
  if (leadsAstray(tx, oldAik, newAik)) return "refused";
  const { record } = renewal;
  addRenewal(tx, { oldAik, newAik, record, followed: false, heardMs: relayNowMs });
  if (heard.length > 0) {
    stopSendingTo(tx, currentKeyOf(tx, oldAik), "renewal-fork");
    return "stopped";
  }
  const place = currentKeyOf(tx, newAik);
  markFollowed(tx, oldAik, newAik);
  moveContact(tx, oldAik, place, relayNowMs);
  return "followed";
}

/** Keys that claim the place of that one, itself first; none but itself when nobody contests it. */
export function contestedKeys(tx: ReadTx, aik: string): readonly string[] {
  const rivals: string[] = [];
  let place = replacedBy(tx, aik);
  for (; place !== undefined; place = replacedBy(tx, place)) {
    const others = renewalsOf(tx, place).filter((row) => !row.followed);
    rivals.push(...others.map((row) => row.newAik));
  }
  return [aik, ...rivals];
}

/**
 * Settles which of the contested keys is the person's, because somebody compared safety numbers with them.
 * Throws when it is none of them.
 */
export function settleKeys(tx: WriteTx, aik: string, chosen: string, relayNowMs: number): void {
  let place = replacedBy(tx, aik);
  while (place !== undefined && !renewalsOf(tx, place).some((row) => row.newAik === chosen)) {
    place = replacedBy(tx, place);
  }
  if (place === undefined) throw new Error("a key was chosen that nobody claims");
  if (chosen !== aik) {
    markFollowed(tx, place, chosen);
    moveContact(tx, aik, chosen, relayNowMs);
  }
  resumeSendingTo(tx, chosen);
  updateContact(tx, chosen, { verifiedMs: relayNowMs, renewedMs: null });
}

/** Nobody takes over from themselves, and nobody else's key from ours. */
function leadsAstray(tx: ReadTx, oldAik: string, newAik: string): boolean {
  const place = currentKeyOf(tx, newAik);
  return place === oldAik || place === getOwnAccount(tx)?.aik;
}

/** The person stays who they were, but for what was known by their key. */
function moveContact(tx: WriteTx, oldAik: string, newAik: string, renewedMs: number): void {
  const known = getContact(tx, oldAik);
  const there = getContact(tx, newAik);
  rekeyAccount(tx, oldAik, newAik);
  if (known === undefined) return;
  deleteContact(tx, oldAik);
  putContact(tx, {
    ...known,
    aik: newAik,
    relation: there?.relation === "blocked" ? "blocked" : known.relation,
    accessKey: there?.accessKey ?? known.accessKey,
    verifiedMs: null,
    renewedMs,
    stopped: null,
    listSentVersion: null,
  });
}
