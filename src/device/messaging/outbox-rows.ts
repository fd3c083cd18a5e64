/**
 * The pure outbox over its rows: loads an entry, lets events happen to it, stores the outcome. The
 * only way in which an outbox row changes.
 */
import { deleteOutbox, getOutbox, outboxCopies, saveOutbox } from "../store/outbox.ts";
import { deleteSealedUpload } from "../store/sealed-uploads.ts";
import type { ReadTx, WriteTx } from "../store/sqlite.ts";
import { step } from "./outbox.ts";
import type { Entry, Moment, OutboxEvent } from "./outbox-entry.ts";

/** Which entry: one message for one account. */
export interface EntryKey {
  readonly messageId: string;
  readonly recipientAik: string;
}

/** The entry with its copies; `undefined` when it is not there, or no more. */
export function loadEntry(tx: ReadTx, key: EntryKey): Entry | undefined {
  const row = getOutbox(tx, key.messageId, key.recipientAik);
  if (row === undefined) return undefined;
  const { state, reason, composedMs, confirmed, acceptedMs, nextMs, attempts } = row;
  const copies = outboxCopies(tx, key.messageId, key.recipientAik);
  return { state, reason, composedMs, confirmed, acceptedMs, nextMs, attempts, copies };
}

/** Lets events happen to an entry, in order. Returns what became of it. */
export function applyEvents(
  tx: WriteTx,
  key: EntryKey,
  events: readonly OutboxEvent[],
  moment: Moment,
): Entry | undefined {
  const before = loadEntry(tx, key);
  if (before === undefined) return undefined;
  const after = events.reduce((entry, event) => step(entry, event, moment), before);
  // Sealed bytes live as long as a copy waits for the answer to them.
  const slots = new Set(after.copies.map((copy) => copy.slot));
  for (const { slot } of before.copies) {
    if (slot !== null && !slots.has(slot)) deleteSealedUpload(tx, slot);
  }
  if (after.state === "done" && !after.confirmed) deleteOutbox(tx, key.messageId, key.recipientAik);
  else {
    const copies = after.copies.map(
      ({ deviceId, state, slot, prekeyNotBeforeMs, acceptedMs, ...times }) => ({
        deviceId,
        state,
        slot,
        prekeyNotBeforeMs,
        acceptedMs,
        confirmedMs: times.confirmedMs,
        nextMs: times.nextMs,
        attempts: times.attempts,
        reseals: times.reseals,
      }),
    );
    saveOutbox(tx, key, after, copies);
  }
  return after;
}
