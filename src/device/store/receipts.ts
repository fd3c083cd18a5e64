/**
 * Rows of receipts that are still to be sent: message ids per account, each with its due time.
 */
import { and, asc, eq, lte, min } from "drizzle-orm";
import { receiptDue } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** Queues the receipt for a message. One that waits already keeps its time. */
export function addReceiptDue(
  tx: WriteTx,
  row: { readonly recipientAik: string; readonly messageId: string; readonly dueMs: number },
): void {
  tx.insert(receiptDue).values(row).onConflictDoNothing().run();
}

/** Accounts with a receipt that is due. */
export function accountsWithDueReceipts(tx: ReadTx, nowMs: number): readonly string[] {
  return tx
    .selectDistinct({ aik: receiptDue.recipientAik })
    .from(receiptDue)
    .where(lte(receiptDue.dueMs, nowMs))
    .all()
    .map((row) => row.aik);
}

/** When the next receipt is due. */
export function nextReceiptDueMs(tx: ReadTx): number | undefined {
  return (
    tx
      .select({ dueMs: min(receiptDue.dueMs) })
      .from(receiptDue)
      .get()?.dueMs ?? undefined
  );
}

/** Takes up to `limit` ids for one account, due or not: they travel together. */
export function takeReceipts(tx: WriteTx, recipientAik: string, limit: number): readonly string[] {
  const ids = tx
    .select({ messageId: receiptDue.messageId })
    .from(receiptDue)
    .where(eq(receiptDue.recipientAik, recipientAik))
    .orderBy(asc(receiptDue.dueMs))
    .limit(limit)
    .all()
    .map((row) => row.messageId);
  for (const messageId of ids) {
    tx.delete(receiptDue)
      .where(and(eq(receiptDue.recipientAik, recipientAik), eq(receiptDue.messageId, messageId)))
      .run();
  }
  return ids;
}
