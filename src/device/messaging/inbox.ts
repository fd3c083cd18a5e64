/**
 * Takes in what the relay delivers. A batch of items is opened, given its meaning and journalled in
 * one transaction; only after the commit are they acknowledged. Every item ends acknowledged: what
 * cannot be opened is set aside with its reason, a duplicate queues its receipt again, and only
 * trouble with the disk leaves a batch unacknowledged, to be tried again.
 *
 * What a payload means is decided by the `dispatch` it is built with.
 *
 * Spec: docs/protocol.md "Opening".
 */
import type { Clock } from "../../shared/clock.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import { idFromText, idText } from "../../shared/ids.ts";
import { randomFraction, type Rng } from "../../shared/rng.ts";
import type { Delivery } from "../../shared/wire/frames.ts";
import { type OpenedMessage, openItem } from "../crypto/open.ts";
import { relationOf, senderContext } from "../identity/contacts.ts";
import { openerOf } from "../identity/prekeys.ts";
import { getOwnAccount, getOwnDevice } from "../store/identity.ts";
import { hasSeen, markSeen } from "../store/messages.ts";
import { currentKeyOf } from "../store/renewals.ts";
import { journalSetAside, trimSetAside } from "../store/set-aside.ts";
import type { DeviceStore, WriteTx } from "../store/sqlite.ts";
import { type StoreError, storeErrorOf } from "../store/store-error.ts";
import { applyEvents } from "./outbox-rows.ts";
import { type DelayRange, drawDelay, queueReceipt } from "./receipts.ts";

/** When something arrived. Units: ms on this device's clock, and on our relay's. */
export interface Arrival {
  readonly nowMs: number;
  readonly relayNowMs: number;
}

/** Gives an opened payload its meaning. Returns a reason to set it aside instead, if there is one. */
export type Dispatch = (tx: WriteTx, opened: OpenedMessage, arrival: Arrival) => string | undefined;

/** What the inbox is built from. */
export interface InboxParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Units: ms on our relay's clock. */
  readonly relayNowMs: () => number;
  readonly dispatch: Dispatch;
  readonly receiptDelay: DelayRange;
  readonly acknowledge: (seqs: readonly bigint[]) => void;
  /** An item was set aside for that reason. */
  readonly onSetAside: (reason: string) => void;
  /** Local trouble: nothing was acknowledged, the batch is tried again. */
  readonly onTrouble: (error: StoreError) => void;
}

export interface Inbox {
  readonly deliver: (delivery: Delivery) => void;
  /** Whether items wait to be journalled. */
  readonly busy: () => boolean;
  readonly close: () => void;
}

/** Items in one transaction: enough to share a commit, few enough to keep the program responsive. */
const batchItems = 64;
/** Pause after local trouble. Units: ms. */
const troubleMs = 2_000;

/** Builds the inbox. Bound: the relay's window of unacknowledged items. */
export function createInbox(parts: InboxParts): Inbox {
  const waiting: Delivery[] = [];
  let scheduled = false;
  let closed = false;

  const work = (): void => {
    scheduled = false;
    if (closed || waiting.length === 0) return;
    const batch = waiting.slice(0, batchItems);
    try {
      journal(parts, batch);
    } catch (thrown) {
      const error = storeErrorOf(thrown);
      if (error === undefined) throw thrown;
      parts.onTrouble(error);
      scheduled = true;
      parts.clock.schedule(troubleMs, work);
      return;
    }
    waiting.splice(0, batch.length);
    parts.acknowledge(batch.map((delivery) => delivery.seq));
    soon();
  };
  const soon = (): void => {
    if (scheduled || closed || waiting.length === 0) return;
    scheduled = true;
    // After everything that the socket has at hand: one commit for all of it.
    queueMicrotask(work);
  };

  return {
    deliver: (delivery) => {
      waiting.push(delivery);
      soon();
    },
    busy: () => !closed && waiting.length > 0,
    close: () => {
      closed = true;
      waiting.length = 0;
    },
  };
}

function journal(parts: InboxParts, batch: readonly Delivery[]): void {
  const arrival = { nowMs: parts.clock.nowMs(), relayNowMs: parts.relayNowMs() };
  parts.store.write((tx) => {
    for (const { item } of batch) {
      const reason = takeIn(parts, tx, item, arrival);
      if (reason === undefined) continue;
      journalSetAside(tx, { itemHash: idText(blake2b(32, item)), reason, nowMs: arrival.nowMs });
      tx.afterCommit(() => parts.onSetAside(reason));
    }
    trimSetAside(tx);
  });
}

/** Takes in one item. Returns why it has to be set aside, with every effect undone. */
function takeIn(
  parts: InboxParts,
  tx: WriteTx,
  item: Uint8Array,
  arrival: Arrival,
): string | undefined {
  const own = getOwnDevice(tx);
  if (own === undefined) throw new Error("an item was delivered before this device has keys");
  const me = openerOf(tx, idFromText(own.deviceId));
  const opened = openItem(item, me, senderContext(tx, arrival.relayNowMs));
  if (!opened.ok) return opened.error.type;
  try {
    return tx.savepoint(() => {
      const reason = accept(parts, tx, opened.value, arrival);
      if (reason !== undefined) throw new SetAside(reason);
      return undefined;
    });
  } catch (thrown) {
    if (thrown instanceof SetAside) return thrown.reason;
    // One item that this version stumbles over must not hold up all that follow it.
    if (storeErrorOf(thrown) === undefined) return "internal";
    throw thrown;
  }
}

/** Undoes an item's savepoint; never leaves this file. */
class SetAside extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

function accept(
  parts: InboxParts,
  tx: WriteTx,
  opened: OpenedMessage,
  arrival: Arrival,
): string | undefined {
  const senderAik = currentKeyOf(tx, idText(opened.sender.aik));
  const messageId = idText(opened.messageId);
  const deviceId = idText(opened.sender.deviceId);
  if (getOwnAccount(tx)?.aik === senderAik && getOwnDevice(tx)?.deviceId === deviceId) {
    // Our own copy of what we sent to our own account: it ends here, unanswered.
    const moment = { nowMs: arrival.nowMs, fraction: randomFraction(parts.rng) };
    applyEvents(
      tx,
      { messageId, recipientAik: senderAik },
      [{ type: "confirmed", deviceId }],
      moment,
    );
    return undefined;
  }
  // What is never confirmed repeats no effect, so its id need not be remembered.
  if (!opened.confirmed) return parts.dispatch(tx, opened, arrival);
  if (!hasSeen(tx, senderAik, messageId)) {
    const reason = parts.dispatch(tx, opened, arrival);
    if (reason !== undefined) return reason;
  }
  // What was just taken in may have been the sender's renewal.
  const account = currentKeyOf(tx, senderAik);
  markSeen(tx, account, messageId, arrival.nowMs);
  // A duplicate is success, too: its receipt may have been lost. Strangers get none.
  if (relationOf(tx, account) !== "unknown") {
    const dueMs = arrival.nowMs + drawDelay(parts.receiptDelay, parts.rng);
    queueReceipt(tx, { senderAik: account, messageId }, dueMs);
  }
  return undefined;
}
