/**
 * Rows of conversations, and the ids of everything that was ever journalled. An id outlives its
 * message, so that a late copy of a deleted message lands nowhere.
 */
import { and, asc, eq, lt, notExists, sql } from "drizzle-orm";
import { messageIdLifeMs } from "../../shared/limits.ts";
import { preparedOn } from "./prepared.ts";
import { message, seenMessage } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type MessageRow = typeof message.$inferSelect;
export type NewMessage = Omit<MessageRow, "row" | "readMs">;

/**
 * Notes that a message of that sender is journalled. Returns whether it is new: the id belongs to
 * the authenticated sender, so two senders may use one id.
 */
export function markSeen(
  tx: WriteTx,
  senderAik: string,
  messageId: string,
  nowMs: number,
): boolean {
  const inserted = tx
    .insert(seenMessage)
    .values({ senderAik, messageId, seenMs: nowMs })
    .onConflictDoNothing()
    .run();
  return inserted.changes === 1;
}

/** Whether a message of that sender is journalled. */
export function hasSeen(tx: ReadTx, senderAik: string, messageId: string): boolean {
  return seenById(tx).get({ senderAik, messageId }) !== undefined;
}
const seenById = preparedOn((tx) =>
  tx
    .select({ seenMs: seenMessage.seenMs })
    .from(seenMessage)
    .where(
      and(
        eq(seenMessage.senderAik, sql.placeholder("senderAik")),
        eq(seenMessage.messageId, sql.placeholder("messageId")),
      ),
    )
    .prepare(),
);

/** Adds a row to a conversation. Returns false when that sender's message is there already. */
export function addMessage(tx: WriteTx, row: NewMessage): boolean {
  return tx.insert(message).values(row).onConflictDoNothing().run().changes === 1;
}

/** Rows of one conversation in order of arrival. */
export function conversationRows(tx: ReadTx, conversation: string): readonly MessageRow[] {
  return tx
    .select()
    .from(message)
    .where(eq(message.conversation, conversation))
    .orderBy(asc(message.row))
    .all();
}

/** Rows of all conversations in order of arrival. */
export function allMessageRows(tx: ReadTx): readonly MessageRow[] {
  return tx.select().from(message).orderBy(asc(message.row)).all();
}

/** Rows with that message id: several when two senders chose one id. */
export function messageRows(tx: ReadTx, messageId: string): readonly MessageRow[] {
  return tx
    .select()
    .from(message)
    .where(eq(message.messageId, messageId))
    .orderBy(asc(message.row))
    .all();
}

/**
 * Forgets ids that outlived their time: `messageIdLifeMs` after they were journalled, when no row
 * shows the message any more. Returns how many.
 */
export function forgetOldIds(tx: WriteTx, nowMs: number): number {
  const shown = tx
    .select({ row: message.row })
    .from(message)
    .where(
      and(
        eq(message.senderAik, seenMessage.senderAik),
        eq(message.messageId, seenMessage.messageId),
      ),
    );
  return tx
    .delete(seenMessage)
    .where(and(lt(seenMessage.seenMs, nowMs - messageIdLifeMs), notExists(shown)))
    .run().changes;
}
