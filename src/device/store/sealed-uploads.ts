/**
 * Sealed uploads that the relay has not answered, by slot. They are kept so that a retry repeats the
 * same bytes; the outbox copies that travel in one are in outbox.ts.
 */
import { eq } from "drizzle-orm";
import { sealedUpload } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** One upload as it was sealed. */
export type SealedUploadRow = typeof sealedUpload.$inferSelect;

/** Keeps sealed bytes until the relay answers, so that a retry repeats them exactly. */
export function addSealedUpload(tx: WriteTx, row: SealedUploadRow): void {
  tx.insert(sealedUpload).values(row).run();
}

/** The sealed bytes under a slot. */
export function getSealedUpload(tx: ReadTx, slot: string): SealedUploadRow | undefined {
  return tx.select().from(sealedUpload).where(eq(sealedUpload.slot, slot)).get();
}

/** Drops sealed bytes that were answered. */
export function deleteSealedUpload(tx: WriteTx, slot: string): void {
  tx.delete(sealedUpload).where(eq(sealedUpload.slot, slot)).run();
}

/** Whether a sealing waits for the relay's answer: on its way, or between two tries. */
export function hasUnanswered(tx: ReadTx): boolean {
  return tx.select({ slot: sealedUpload.slot }).from(sealedUpload).limit(1).get() !== undefined;
}
