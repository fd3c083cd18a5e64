/**
 * Rows of the outbox: what we send, its copy per recipient device, and sealed uploads that the
 * relay has not answered. Which state follows which is decided in messaging/outbox.ts, purely.
 *
 * Everyone who sends anything calls `addOutgoing` inside the transaction that caused it; the pump
 * does the rest after the commit.
 */
import {
  and,
  asc,
  count,
  eq,
  gt,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  min,
  notInArray,
  sql,
} from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { outbox, outboxCopy, sealedUpload } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type OutboxRow = typeof outbox.$inferSelect;
export type OutboxCopyRow = typeof outboxCopy.$inferSelect;
export type SealedUploadRow = typeof sealedUpload.$inferSelect;

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
}

/** Queues a payload. The same message for the same account again changes nothing. */
export function addOutgoing(tx: WriteTx, outgoing: Outgoing): void {
  const { bucket, ...fields } = outgoing;
  tx.insert(outbox)
    .values({
      ...fields,
      bucket: bucket ?? null,
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

/** Accounts with something due. */
export function dueRecipients(tx: ReadTx, nowMs: number): readonly string[] {
  return tx
    .selectDistinct({ aik: outbox.recipientAik })
    .from(outbox)
    .where(and(eq(outbox.state, "open"), lte(outbox.nextMs, nowMs)))
    .all()
    .map((row) => row.aik);
}

/** When the next open row is due, some accounts left out. */
export function nextOutboxMs(tx: ReadTx, except: readonly string[] = []): number | undefined {
  return (
    tx
      .select({ at: min(outbox.nextMs) })
      .from(outbox)
      .where(and(eq(outbox.state, "open"), notInArray(outbox.recipientAik, [...except])))
      .get()?.at ?? undefined
  );
}

/**
 * The next row of an account to work on, in order of composing after row `after`. A row that was
 * never accepted and still waits holds back the later ones that were not accepted either: each
 * account gets its messages in order.
 */
export function nextDue(
  tx: ReadTx,
  recipientAik: string,
  nowMs: number,
  after: number,
): OutboxRow | undefined {
  const head = waitingHead(tx, recipientAik, nowMs);
  const headWaits = head !== undefined && head.nextMs > nowMs;
  return tx
    .select()
    .from(outbox)
    .where(
      and(
        eq(outbox.recipientAik, recipientAik),
        eq(outbox.state, "open"),
        lte(outbox.nextMs, nowMs),
        gt(outbox.row, after),
        headWaits ? isNotNull(outbox.acceptedMs) : undefined,
      ),
    )
    .orderBy(asc(outbox.row))
    .limit(1)
    .get();
}

/**
 * Makes what waits behind an account's first waiting row due together with it. Without this the
 * pump would look at those rows again and again, and be allowed to send none.
 */
export function holdBack(tx: WriteTx, recipientAik: string, nowMs: number): void {
  const head = waitingHead(tx, recipientAik, nowMs);
  if (head === undefined || head.nextMs <= nowMs) return;
  tx.update(outbox)
    .set({ nextMs: head.nextMs })
    .where(
      and(
        eq(outbox.recipientAik, recipientAik),
        eq(outbox.state, "open"),
        isNull(outbox.acceptedMs),
        gt(outbox.row, head.row),
        lt(outbox.nextMs, head.nextMs),
      ),
    )
    .run();
}

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

/** Makes what an account has not got yet due now: a key, a relay or a device list was learned. */
export function wakeRecipient(tx: WriteTx, recipientAik: string, nowMs: number): void {
  tx.update(outbox)
    .set({ nextMs: nowMs })
    .where(
      and(
        eq(outbox.recipientAik, recipientAik),
        eq(outbox.state, "open"),
        lte(outbox.notBeforeMs, nowMs),
      ),
    )
    .run();
  tx.update(outboxCopy)
    .set({ nextMs: nowMs })
    .where(and(eq(outboxCopy.recipientAik, recipientAik), eq(outboxCopy.state, "queued")))
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

/** The first row of an account that was never accepted, due or not. */
function waitingHead(
  tx: ReadTx,
  recipientAik: string,
  nowMs: number,
): Pick<OutboxRow, "row" | "nextMs"> | undefined {
  return tx
    .select({ row: outbox.row, nextMs: outbox.nextMs })
    .from(outbox)
    .where(
      and(
        eq(outbox.recipientAik, recipientAik),
        eq(outbox.state, "open"),
        isNull(outbox.acceptedMs),
        lte(outbox.notBeforeMs, nowMs),
      ),
    )
    .orderBy(asc(outbox.row))
    .limit(1)
    .get();
}

/** Whether a sealing waits for the relay's answer: on its way, or between two tries. */
export function hasUnanswered(tx: ReadTx): boolean {
  return tx.select({ slot: sealedUpload.slot }).from(sealedUpload).limit(1).get() !== undefined;
}
