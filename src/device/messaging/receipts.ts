/**
 * Receipts, both ways. Ours: every journalled message that its kind confirms is answered, after a
 * random delay, up to 32 ids at once, to all devices of the sender's account. Theirs: a receipt
 * counts only for what we sent to that very account, and only for the device that is certified in it.
 *
 * A receipt is never confirmed itself: a lost one is repeated when its message arrives again.
 *
 * Spec: docs/protocol.md "Tags" (1), "Metadata rules for the client" (3).
 */
import { idFromText, idText } from "../../shared/ids.ts";
import { maxReceiptIds } from "../../shared/limits.ts";
import { type Rng, randomFraction } from "../../shared/rng.ts";
import { encodeReceipt } from "../crypto/payload.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { getContact } from "../store/contacts.ts";
import { getOwnAccount } from "../store/identity.ts";
import { addOutgoing, overtakenMessages } from "../store/outbox.ts";
import { accountsWithDueReceipts, addReceiptDue, takeReceipts } from "../store/receipts.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import type { Moment } from "./outbox-entry.ts";
import { applyEvents } from "./outbox-rows.ts";
import { overtakenMs } from "./retry-times.ts";

/** Bounds of a random delay. Units: ms. */
export type DelayRange = readonly [min: number, max: number];

/** The bucket of an ordinary chat message: a receipt must not be told apart by its size. */
const chatBucket = 0;

/** A delay drawn from its range. Units: ms. */
export function drawDelay(range: DelayRange, rng: Rng): number {
  const [min, max] = range;
  return min + Math.floor((max - min) * randomFraction(rng));
}

/** Queues the receipt for a message of that account. */
export function queueReceipt(
  tx: WriteTx,
  message: { readonly senderAik: string; readonly messageId: string },
  dueMs: number,
): void {
  addReceiptDue(tx, { recipientAik: message.senderAik, messageId: message.messageId, dueMs });
}

/** Turns receipts that are due into outgoing payloads. Returns how many were made. */
export function sendDueReceipts(tx: WriteTx, nowMs: number, rng: Rng): number {
  let made = 0;
  for (const recipientAik of accountsWithDueReceipts(tx, nowMs)) {
    const heard = mayHaveReceipts(tx, recipientAik);
    for (;;) {
      const ids = takeReceipts(tx, recipientAik, maxReceiptIds);
      if (ids.length === 0) break;
      if (!heard) continue;
      made += 1;
      addOutgoing(tx, {
        messageId: idText(rng(16)),
        recipientAik,
        typeTag: payloadTag.receipt,
        flags: 0,
        content: encodeReceipt(ids.map((id) => idFromText(id))),
        sentMs: nowMs,
        notBeforeMs: nowMs,
        confirmed: false,
        bucket: chatBucket,
      });
    }
  }
  return made;
}

/** Takes in a receipt. Returns the ids that it confirmed; ids of other accounts' messages count for nothing. */
export function applyReceipt(
  tx: WriteTx,
  receipt: {
    readonly senderAik: string;
    readonly deviceId: string;
    readonly messageIds: readonly string[];
  },
  moment: Moment,
): readonly string[] {
  const { senderAik, deviceId } = receipt;
  const confirmed = receipt.messageIds.filter(
    (messageId) =>
      applyEvents(
        tx,
        { messageId, recipientAik: senderAik },
        [{ type: "confirmed", deviceId }],
        moment,
      ) !== undefined,
  );
  if (confirmed.length > 0) watchOvertaken(tx, { recipientAik: senderAik, deviceId }, moment);
  return confirmed;
}

/** What the device has not confirmed although it reads newer messages is looked at soon. */
function watchOvertaken(
  tx: WriteTx,
  device: { readonly recipientAik: string; readonly deviceId: string },
  moment: Moment,
): void {
  for (const messageId of overtakenMessages(tx, device, moment.nowMs + overtakenMs)) {
    const event = { type: "overtaken", deviceId: device.deviceId } as const;
    applyEvents(tx, { ...device, messageId }, [event], moment);
  }
}

/** Contacts and our own account only: nobody else learns that something arrived. */
function mayHaveReceipts(tx: ReadTx, aik: string): boolean {
  if (getOwnAccount(tx)?.aik === aik) return true;
  const relation = getContact(tx, aik)?.relation;
  return relation === "contact" || relation === "invited";
}
