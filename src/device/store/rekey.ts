/**
 * One account under another identity key: every row that names an account by its key follows it, so that
 * a conversation stays one, no message lands twice, and what waits is sent to the same people.
 *
 * Device lists, prekeys and our own prekeys stay under the key that signed them. The row of the contact
 * or of our own account is the caller's. Spec: docs/protocol.md "Renewal of an account".
 */
import { and, eq, inArray, sql } from "drizzle-orm";
import { message, outbox, outboxCopy, receiptDue, sealedUpload, seenMessage } from "./schema.ts";
import { skillImport, skillOrigin } from "./skill-tables.ts";
import type { WriteTx } from "./sqlite.ts";

/** Moves everything of an account. Of what is there under both keys, the new key's row stays. */
export function rekeyAccount(tx: WriteTx, oldAik: string, newAik: string): void {
  rekeyMessages(tx, oldAik, newAik);
  rekeyOutbox(tx, oldAik, newAik);
  tx.update(skillImport).set({ senderAik: newAik }).where(eq(skillImport.senderAik, oldAik)).run();
  // Prose inside that JSON has its quotes escaped: this only meets a sender.
  tx.update(skillOrigin)
    .set({ json: sql`replace(${skillOrigin.json}, ${sender(oldAik)}, ${sender(newAik)})` })
    .run();
}

function sender(aik: string): string {
  return `"aik":"${aik}"`;
}

function rekeyMessages(tx: WriteTx, oldAik: string, newAik: string): void {
  tx.update(message).set({ conversation: newAik }).where(eq(message.conversation, oldAik)).run();
  for (const table of [message, seenMessage]) {
    const there = tx.select({ id: table.messageId }).from(table).where(eq(table.senderAik, newAik));
    tx.delete(table)
      .where(and(eq(table.senderAik, oldAik), inArray(table.messageId, there)))
      .run();
    tx.update(table).set({ senderAik: newAik }).where(eq(table.senderAik, oldAik)).run();
  }
}

function rekeyOutbox(tx: WriteTx, oldAik: string, newAik: string): void {
  for (const table of [outbox, outboxCopy, receiptDue]) {
    const there = tx
      .select({ id: table.messageId })
      .from(table)
      .where(eq(table.recipientAik, newAik));
    tx.delete(table)
      .where(and(eq(table.recipientAik, oldAik), inArray(table.messageId, there)))
      .run();
    tx.update(table).set({ recipientAik: newAik }).where(eq(table.recipientAik, oldAik)).run();
  }
  tx.update(sealedUpload)
    .set({ recipientAik: newAik })
    .where(eq(sealedUpload.recipientAik, oldAik))
    .run();
}
