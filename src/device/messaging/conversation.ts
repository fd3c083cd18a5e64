/**
 * Conversations as a person sees them: rows of messages, and how far each of ours has come. Reads
 * only. Which text is a skill card is judged by a function of the caller.
 */
import { parseUtf8 } from "../../shared/bytes.ts";
import type { DeliveryView, MessageView, SkillCard } from "../device.ts";
import { payloadTag } from "../crypto/type-rules.ts";
import { getOwnAccount } from "../store/identity.ts";
import { allMessageRows, conversationRows, type MessageRow } from "../store/messages.ts";
import { outboxCopies, type OutboxCopyRow, type OutboxRow, outboxRows } from "../store/outbox.ts";
import type { ReadTx } from "../store/sqlite.ts";

/** Finds the skill card in a message text, if it is one. */
export type CardOf = (text: string, fromMe: boolean) => SkillCard | undefined;

/** Messages of one conversation, or of all, oldest first. */
export function messageViews(
  tx: ReadTx,
  conversation: string | undefined,
  cardOf: CardOf,
): readonly MessageView[] {
  const ownAik = getOwnAccount(tx)?.aik;
  const rows = conversation === undefined ? allMessageRows(tx) : conversationRows(tx, conversation);
  return rows.map((row) => messageView(tx, row, ownAik, cardOf));
}

/** How far a message that this device sent has come; `undefined` when it sent none of that id. */
export function deliveryView(tx: ReadTx, messageId: string): DeliveryView | undefined {
  const rows = outboxRows(tx, messageId).filter((row) => row.typeTag === payloadTag.message);
  const [row] = rows;
  if (row === undefined) return undefined;
  const copies = outboxCopies(tx, messageId, row.recipientAik);
  return {
    state: deliveryState(row, copies),
    copies: copies.map(({ deviceId, state }) => ({ deviceId, state })),
    reason: row.reason ?? undefined,
  };
}

function deliveryState(row: OutboxRow, copies: readonly OutboxCopyRow[]): DeliveryView["state"] {
  switch (row.state) {
    case "done":
      return "confirmed";
    case "expired":
    case "failed":
      return row.state;
    case "open":
    default:
      // One device of theirs has it: the person can read it.
      if (copies.some((copy) => copy.state === "confirmed")) return "confirmed";
      return row.acceptedMs === null ? "queued" : "accepted";
  }
}

function messageView(
  tx: ReadTx,
  row: MessageRow,
  ownAik: string | undefined,
  cardOf: CardOf,
): MessageView {
  const fromMe = row.senderAik === ownAik;
  const parsed = parseUtf8(row.content);
  const text = row.typeTag === payloadTag.message && parsed.ok ? parsed.value : undefined;
  const card = text === undefined ? undefined : cardOf(text, fromMe);
  return {
    messageId: row.messageId,
    conversation: row.conversation,
    fromMe,
    senderAik: row.senderAik,
    sentMs: row.sentMs,
    clockOff: row.clockOff,
    kind: text === undefined ? "opaque" : card === undefined ? "text" : "skill-share",
    text: text ?? "",
    card,
    delivery: fromMe ? deliveryView(tx, row.messageId) : undefined,
  };
}
