/**
 * When outbox rows have their turn: which accounts and rows are due, in which order, and what moves
 * a due time by itself. What a turn does to a row is decided in messaging/outbox.ts and saved by
 * outbox.ts; the pump asks here what to work on, and until when it may sleep.
 */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  min,
  notInArray,
  sql,
} from "drizzle-orm";
import type { OutboxRow } from "./outbox.ts";
import { outbox, outboxCopy } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

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

/**
 * Messages to an account that were accepted and may have to go again, composed since; the newest, at
 * most `limit` of them. Units: ms of relay time.
 */
export function resendable(
  tx: ReadTx,
  recipientAik: string,
  sinceMs: number,
  limit: number,
): readonly Pick<OutboxRow, "messageId" | "recipientAik" | "sentMs">[] {
  return tx
    .select({
      messageId: outbox.messageId,
      recipientAik: outbox.recipientAik,
      sentMs: outbox.sentMs,
    })
    .from(outbox)
    .where(
      and(
        eq(outbox.recipientAik, recipientAik),
        eq(outbox.confirmed, true),
        inArray(outbox.state, ["open", "done"]),
        isNotNull(outbox.acceptedMs),
        gte(outbox.sentMs, sinceMs),
      ),
    )
    .orderBy(desc(outbox.row))
    .limit(limit)
    .all();
}

/** Open rows that are certified under the key of the day they are sealed. */
export function openRows(
  tx: ReadTx,
): readonly Pick<OutboxRow, "messageId" | "recipientAik" | "row">[] {
  return tx
    .select({
      messageId: outbox.messageId,
      recipientAik: outbox.recipientAik,
      row: outbox.row,
    })
    .from(outbox)
    .where(and(eq(outbox.state, "open"), isNull(outbox.senderAik)))
    .orderBy(asc(outbox.row))
    .all();
}

/** Puts everything behind what was queued last, except what an earlier key certifies; the order stays. */
export function moveBehind(tx: WriteTx): void {
  const last = tx
    .select({ row: max(outbox.row) })
    .from(outbox)
    .get()?.row;
  tx.update(outbox)
    .set({ row: sql`${outbox.row} + ${last ?? 0}` })
    .where(and(eq(outbox.state, "open"), isNull(outbox.senderAik)))
    .run();
}

/** Binds what waits of that kind to the key that it was composed under. */
export function bindToKey(tx: WriteTx, typeTag: number, senderAik: string): void {
  tx.update(outbox)
    .set({ senderAik })
    .where(and(eq(outbox.state, "open"), eq(outbox.typeTag, typeTag), isNull(outbox.senderAik)))
    .run();
}

/** Devices that have not confirmed yet what only they may read, of that kind. */
export function unheardDevices(tx: ReadTx, typeTag: number): readonly string[] {
  return tx
    .select({ deviceId: outbox.onlyDevice })
    .from(outbox)
    .where(and(eq(outbox.state, "open"), eq(outbox.typeTag, typeTag)))
    .all()
    .flatMap(({ deviceId }) => (deviceId === null ? [] : [deviceId]));
}
