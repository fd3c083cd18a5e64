/**
 * Rows of the outbox: what we send, and its copy per recipient device. Which state follows which is
 * decided in messaging/outbox.ts, purely; which row's turn it is, in outbox-due.ts. The sealed bytes
 * are in sealed-uploads.ts.
 *
 * Everyone who sends anything calls `addOutgoing` inside the transaction that caused it; the pump
 * does the rest after the commit.
 */
import { and, asc, count, eq, gt, lt, lte, max, sql } from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { outbox, outboxCopy } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type OutboxRow = typeof outbox.$inferSelect;
export type OutboxCopyRow = typeof outboxCopy.$inferSelect;

/**
 * One payload for one account. `sentMs` is what the recipient is told (relay time); everything else
 * runs on this device's clock, from `notBeforeMs` on.
 */
export interface Outgoing {
  readonly messageId: string;
  readonly recipientAik: string;
  readonly typeTag: number;
  readonly flags: number;
  readonly content: Uint8Array;
  readonly sentMs: number;
  /** Not sealed before this: echoes and receipts wait at random. */
  readonly notBeforeMs: number;
  /** Whether a receipt ends it, or acceptance by the relay does. */
  readonly confirmed: boolean;
  /** Smallest bucket to be used. */
  readonly bucket?: number;
  /** Our earlier identity key that it is certified under. */
  readonly senderAik?: string;
  /** The one device that may read it. */
  readonly onlyDevice?: string;
}

/** Queues a payload. The same message for the same account again changes nothing. */
export function addOutgoing(tx: WriteTx, outgoing: Outgoing): void {
  const { bucket, senderAik, onlyDevice, ...fields } = outgoing;
  tx.insert(outbox)
    .values({
      ...fields,
      bucket: bucket ?? null,
      senderAik: senderAik ?? null,
      onlyDevice: onlyDevice ?? null,
      composedMs: outgoing.notBeforeMs,
      state: "open",
      nextMs: outgoing.notBeforeMs,
      attempts: 0,
    })
    .onConflictDoNothing()
    .run();
}

/** The row of one message for one account. */
export function getOutbox(
  tx: ReadTx,
  messageId: string,
  recipientAik: string,
): OutboxRow | undefined {
  return rowByMessage(tx).get({ messageId, recipientAik });
}
const rowByMessage = preparedOn((tx) =>
  tx
    .select()
    .from(outbox)
    .where(
      and(
        eq(outbox.messageId, sql.placeholder("messageId")),
        eq(outbox.recipientAik, sql.placeholder("recipientAik")),
      ),
    )
    .prepare(),
);

/** All rows of a message id. */
export function outboxRows(tx: ReadTx, messageId: string): readonly OutboxRow[] {
  return tx.select().from(outbox).where(eq(outbox.messageId, messageId)).all();
}

/** Copies of one message for one account. */
export function outboxCopies(
  tx: ReadTx,
  messageId: string,
  recipientAik: string,
): readonly OutboxCopyRow[] {
  return copiesByMessage(tx).all({ messageId, recipientAik });
}
const copiesByMessage = preparedOn((tx) =>
  tx
    .select()
    .from(outboxCopy)
    .where(
      and(
        eq(outboxCopy.messageId, sql.placeholder("messageId")),
        eq(outboxCopy.recipientAik, sql.placeholder("recipientAik")),
      ),
    )
    .orderBy(asc(outboxCopy.deviceId))
    .prepare(),
);

/** What a step may change about a row. */
export type OutboxChange = Pick<
  OutboxRow,
  "state" | "reason" | "acceptedMs" | "nextMs" | "attempts"
>;

/** Writes what a step decided about a row and its copies. */
export function saveOutbox(
  tx: WriteTx,
  key: Pick<OutboxRow, "messageId" | "recipientAik">,
  change: OutboxChange,
  copies: readonly Omit<OutboxCopyRow, "messageId" | "recipientAik">[],
): void {
  const { messageId, recipientAik } = key;
  const { state, reason, acceptedMs, nextMs, attempts } = change;
  tx.update(outbox)
    .set({ state, reason, acceptedMs, nextMs, attempts })
    .where(and(eq(outbox.messageId, messageId), eq(outbox.recipientAik, recipientAik)))
    .run();
  for (const copy of copies) {
    tx.insert(outboxCopy)
      .values({ messageId, recipientAik, ...copy })
      .onConflictDoUpdate({
        target: [outboxCopy.messageId, outboxCopy.recipientAik, outboxCopy.deviceId],
        set: copy,
      })
      .run();
  }
}

/** Removes a row with its copies: what nobody confirms is over once the relay has it. */
export function deleteOutbox(tx: WriteTx, messageId: string, recipientAik: string): void {
  tx.delete(outboxCopy)
    .where(and(eq(outboxCopy.messageId, messageId), eq(outboxCopy.recipientAik, recipientAik)))
    .run();
  tx.delete(outbox)
    .where(and(eq(outbox.messageId, messageId), eq(outbox.recipientAik, recipientAik)))
    .run();
}

/** Open rows, counted. */
export function countOpenOutbox(tx: ReadTx): number {
  return (
    tx.select({ total: count() }).from(outbox).where(eq(outbox.state, "open")).get()?.total ?? 0
  );
}

/**
 * Whether that device confirmed, at or before `confirmedByMs`, something the relay accepted after
 * `acceptedMs`: then it is reading, and a copy it has not confirmed is lost to it.
 */
export function confirmedNewer(
  tx: ReadTx,
  device: Pick<OutboxCopyRow, "recipientAik" | "deviceId">,
  acceptedMs: number,
  confirmedByMs: number,
): boolean {
  return (
    tx
      .select({ deviceId: outboxCopy.deviceId })
      .from(outboxCopy)
      .where(
        and(
          eq(outboxCopy.recipientAik, device.recipientAik),
          eq(outboxCopy.deviceId, device.deviceId),
          eq(outboxCopy.state, "confirmed"),
          gt(outboxCopy.acceptedMs, acceptedMs),
          lte(outboxCopy.confirmedMs, confirmedByMs),
        ),
      )
      .limit(1)
      .get() !== undefined
  );
}

/**
 * Messages of which that device has a copy that it has not confirmed, although it confirmed one
 * that was accepted later; those that are looked at after `laterThanMs` only.
 */
export function overtakenMessages(
  tx: ReadTx,
  device: Pick<OutboxCopyRow, "recipientAik" | "deviceId">,
  laterThanMs: number,
): readonly string[] {
  const ofDevice = and(
    eq(outboxCopy.recipientAik, device.recipientAik),
    eq(outboxCopy.deviceId, device.deviceId),
  );
  const newest = tx
    .select({ acceptedMs: max(outboxCopy.acceptedMs) })
    .from(outboxCopy)
    .where(and(ofDevice, eq(outboxCopy.state, "confirmed")))
    .get()?.acceptedMs;
  if (newest == null) return [];
  return tx
    .select({ messageId: outboxCopy.messageId })
    .from(outboxCopy)
    .where(
      and(
        ofDevice,
        eq(outboxCopy.state, "accepted"),
        lt(outboxCopy.acceptedMs, newest),
        gt(outboxCopy.nextMs, laterThanMs),
      ),
    )
    .all()
    .map((row) => row.messageId);
}
