/**
 * Keeps the outbox moving: looks for accounts with something due, works on a few of them at once
 * and on each in order, and sleeps until the next due time. It holds no state that matters: after a
 * restart the rows say what is to be done.
 *
 * Bound: `maxAccounts` accounts at a time, one request each.
 *
 * Spec: docs/protocol.md "Sender state".
 */
import type { Clock } from "../../shared/clock.ts";
import { randomFraction, type Rng } from "../../shared/rng.ts";
import type { DeviceEvent } from "../device.ts";
import type { RelayTime } from "../identity/relay-time.ts";
import { dueRecipients, holdBack, nextDue, nextOutboxMs } from "../store/outbox-due.ts";
import { nextReceiptDueMs } from "../store/receipts.ts";
import { hasUnanswered } from "../store/sealed-uploads.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { type StoreError, storeErrorOf } from "../store/store-error.ts";
import type { RelayTransport } from "../transport/port.ts";
import type { BundleRefresh } from "./bundle-refresh.ts";
import { type EntryWorkParts, workOnEntry } from "./entry-work.ts";
import { sendDueReceipts } from "./receipts.ts";

/** What the pump is built from. */
export interface PumpParts {
  readonly store: DeviceStore;
  readonly transport: Pick<RelayTransport, "upload">;
  readonly relayTime: RelayTime;
  readonly bundles: BundleRefresh;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly emit: (event: DeviceEvent) => void;
  /** An account was worked through, or the pump looked: whoever waits may look, too. */
  readonly onChange: () => void;
  /** Local trouble: the pump waits a little and goes on. */
  readonly onTrouble: (error: StoreError) => void;
}

export interface Pump {
  /** Something was queued or learned: look now. */
  readonly wake: () => void;
  /** Whether something is being sent, is due, or waits between two tries. */
  readonly busy: () => boolean;
  /** Stops after what is under way. */
  readonly close: () => Promise<void>;
}

/** Accounts worked on at the same time. */
const maxAccounts = 4;
/** Pause after local trouble. Units: ms. */
const troubleMs = 5_000;

/** Builds the pump; `wake` starts it. */
export function createPump(parts: PumpParts): Pump {
  return new OutboxPump(parts);
}

class OutboxPump implements Pump {
  readonly #parts: PumpParts;
  readonly #work: EntryWorkParts;
  readonly #running = new Map<string, Promise<void>>();
  #cancelTimer: (() => void) | undefined;
  #pausedUntilMs = -Infinity;
  #woken = false;
  #closed = false;

  constructor(parts: PumpParts) {
    this.#parts = parts;
    const { clock, rng } = parts;
    const moment = () => ({ nowMs: clock.nowMs(), fraction: randomFraction(rng) });
    this.#work = { ...parts, moment };
  }

  readonly wake = (): void => {
    if (this.#woken || this.#closed) return;
    this.#woken = true;
    // After the caller's own work: several wakes of one turn are one look.
    queueMicrotask(() => {
      this.#woken = false;
      this.#look();
      this.#parts.onChange();
    });
  };

  busy(): boolean {
    if (this.#closed) return false;
    const nowMs = this.#parts.clock.nowMs();
    return (
      this.#woken ||
      this.#running.size > 0 ||
      this.#parts.store.read(
        (tx) =>
          hasUnanswered(tx) ||
          dueRecipients(tx, nowMs).length > 0 ||
          (nextReceiptDueMs(tx) ?? Infinity) <= nowMs,
      )
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer?.();
    await Promise.all(this.#running.values());
  }

  #look(): void {
    const { store, clock, rng } = this.#parts;
    if (this.#closed || clock.nowMs() < this.#pausedUntilMs) return;
    this.#guard(() => {
      const nowMs = clock.nowMs();
      const receiptMs = store.read(nextReceiptDueMs);
      if (receiptMs !== undefined && receiptMs <= nowMs) {
        store.write((tx) => sendDueReceipts(tx, nowMs, rng));
      }
      for (const aik of store.read((tx) => dueRecipients(tx, nowMs))) {
        if (this.#running.size >= maxAccounts) break;
        if (!this.#running.has(aik)) this.#start(aik);
      }
      // A full house looks again when the next account is done.
      if (this.#running.size < maxAccounts) this.#sleep();
    });
  }

  #start(aik: string): void {
    const done = this.#workThrough(aik).finally(() => {
      this.#running.delete(aik);
      this.wake();
    });
    this.#running.set(aik, done);
  }

  async #workThrough(aik: string): Promise<void> {
    const { store, clock } = this.#parts;
    try {
      let after = 0;
      while (!this.#closed) {
        const row = store.read((tx) => nextDue(tx, aik, clock.nowMs(), after));
        if (row === undefined) break;
        after = row.row;
        await workOnEntry(this.#work, row);
      }
      if (!this.#closed) store.write((tx) => holdBack(tx, aik, clock.nowMs()));
    } catch (thrown) {
      this.#trouble(thrown);
    }
  }

  #sleep(): void {
    const { store, clock } = this.#parts;
    this.#cancelTimer?.();
    const next = store.read((tx) => {
      const busy = [...this.#running.keys()];
      return Math.min(nextOutboxMs(tx, busy) ?? Infinity, nextReceiptDueMs(tx) ?? Infinity);
    });
    if (next === Infinity) return;
    this.#cancelTimer = clock.schedule(Math.max(0, next - clock.nowMs()), () => this.wake());
  }

  #guard(look: () => void): void {
    try {
      look();
    } catch (thrown) {
      this.#trouble(thrown);
    }
  }

  /** A full disk or a lock passes; anything else is a bug and ends the process. */
  #trouble(thrown: unknown): void {
    const error = storeErrorOf(thrown);
    if (error === undefined) throw thrown;
    const { clock, onTrouble } = this.#parts;
    this.#pausedUntilMs = clock.nowMs() + troubleMs;
    this.#cancelTimer?.();
    this.#cancelTimer = clock.schedule(troubleMs, () => this.wake());
    onTrouble(error);
  }
}
