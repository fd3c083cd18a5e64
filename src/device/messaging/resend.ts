/**
 * Sending again after a restore. A relay that came back from a backup has lost what it accepted since:
 * what we sent through it and nobody confirmed goes again, and everybody is asked to send again what may
 * have been lost on the way to us. A request of that kind from somebody else is answered in the same way.
 *
 * Bounds: one request in a day, one answer for each device and day, the newest 500 messages an account.
 *
 * Spec: docs/protocol.md "After a restore".
 */
import { dayMs, dayOf } from "../../shared/clock.ts";
import { entryOf } from "../../shared/crypto/device-list.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import { encodeResendSince } from "../crypto/payload.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { newestList } from "../identity/lists.ts";
import { allContacts } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import { addOutgoing } from "../store/outbox.ts";
import { resendable } from "../store/outbox-due.ts";
import { getSetting, putSetting } from "../store/settings.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { randomFraction } from "../../shared/rng.ts";
import { applyEvents, loadEntry } from "./outbox-rows.ts";
import type { AnswerMoment } from "./payload.ts";
import { type DelayRange, drawDelay } from "./receipts.ts";

const maxResent = 500;
const askedSetting = "resend-asked";
const answeredPrefix = "resend-answered:";

/** Accounts whose mailboxes are at that relay: ours, and contacts'. */
function accountsAt(tx: ReadTx, relayOrigin: string): readonly string[] {
  const own = getOwnAccount(tx);
  const people = allContacts(tx).filter((person) => person.relayOrigin === relayOrigin);
  const mine = own?.relayOrigin === relayOrigin ? [own.aik] : [];
  return [...mine, ...people.map((person) => person.aik)];
}

/** Queues again what that relay accepted and no device confirmed. Returns how many messages. */
export function resendThrough(tx: WriteTx, relayOrigin: string, moment: AnswerMoment): number {
  let messages = 0;
  for (const aik of accountsAt(tx, relayOrigin)) {
    for (const row of resendable(tx, aik, 0, maxResent)) {
      const copies = loadEntry(tx, row)?.copies ?? [];
      const lost = copies.filter((copy) => copy.state === "accepted").map((copy) => copy.deviceId);
      if (lost.length === 0) continue;
      messages += 1;
      applyEvents(tx, row, [{ type: "resend", deviceIds: lost }], fractional(moment));
    }
  }
  return messages;
}

/**
 * Asks own devices and contacts to send again what they sent since; each at a random time. Once a day:
 * asked again sooner, it does nothing. Units: `sinceMs` of relay time.
 */
export function askToResend(
  tx: WriteTx,
  sinceMs: number,
  moment: AnswerMoment,
  delay: DelayRange,
): void {
  const asked = Number(getSetting(tx, askedSetting) ?? Number.NEGATIVE_INFINITY);
  const own = getOwnAccount(tx);
  if (own === undefined || moment.nowMs < asked + dayMs) return;
  putSetting(tx, askedSetting, String(moment.nowMs));
  const contacts = allContacts(tx).filter((person) => person.relation === "contact");
  for (const recipientAik of [own.aik, ...contacts.map((person) => person.aik)]) {
    addOutgoing(tx, {
      messageId: idText(moment.rng(16)),
      recipientAik,
      typeTag: payloadTag.resendSince,
      flags: 0,
      content: encodeResendSince(BigInt(Math.max(0, Math.floor(sinceMs)))),
      sentMs: moment.relayNowMs,
      notBeforeMs: moment.nowMs + drawDelay(delay, moment.rng),
      confirmed: false,
    });
  }
}

/** Sends again to one device of an account what it asks for. Returns how many messages. */
export function answerResend(
  tx: WriteTx,
  from: { readonly aik: string; readonly deviceId: string; readonly sinceMs: number },
  moment: AnswerMoment,
): number {
  const setting = answeredPrefix + from.deviceId;
  const today = String(dayOf(moment.relayNowMs));
  const list = newestList(tx, from.aik);
  const entry = list && entryOf(list, idFromText(from.deviceId));
  if (entry === undefined || getSetting(tx, setting) === today) return 0;
  putSetting(tx, setting, today);
  // What was sent before the device joined, its siblings told it.
  const sinceMs = Math.max(from.sinceMs, Number(entry.addedMs));
  const rows = resendable(tx, from.aik, sinceMs, maxResent);
  const event = { type: "resend", deviceIds: [from.deviceId] } as const;
  for (const row of rows) applyEvents(tx, row, [event], fractional(moment));
  return rows.length;
}

function fractional({ nowMs, rng }: AnswerMoment): { nowMs: number; fraction: number } {
  return { nowMs, fraction: randomFraction(rng) };
}
