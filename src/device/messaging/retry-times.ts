/**
 * When the outbox tries again. Every number of the sender's patience in one place; pure.
 *
 * A retry waits a random time between zero and a ceiling that doubles up to a cap, the first retry
 * included: capped before the jitter, so that a long outage does not line the senders up.
 *
 * Spec: docs/protocol.md "Sender state".
 */
import { dayMs } from "../../shared/clock.ts";

/** Bounds of one kind of retry. Units: ms. */
export interface RetryBounds {
  readonly baseMs: number;
  readonly capMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The relay did not answer, or asked for a new sealing. */
export const networkRetry: RetryBounds = { baseMs: 1_000, capMs: 5 * minuteMs };
/** The recipient's mailbox is full, or its key is no longer ours: somebody has to act first. */
export const recipientRetry: RetryBounds = { baseMs: minuteMs, capMs: hourMs };
/** A device without a usable prekey is asked for this often. Units: ms. */
export const prekeyAskMs = dayMs;
/** A copy that nothing speaks against is looked at again after this; a receipt hastens it. Units: ms. */
export const checkMs = 6 * hourMs;

/** Sealings again of one copy, at most; then the user is told. */
export const maxReseals = 8;
/** The same towards somebody who has not accepted us yet. */
export const maxResealsToStrangers = 3;
/** A prekey counts as taken up by its device this long after it was published. Units: ms. */
export const newPrekeyMs = 48 * hourMs;
/** A device that confirmed newer messages has this long to confirm this one, too. Units: ms. */
export const overtakenMs = 10 * minuteMs;
/** With the wrong key for this long, the user is told to ask for a new invite. Units: ms. */
export const tokenPatienceMs = 7 * dayMs;

/**
 * Delay before the next try. `failures` counts tries that failed in a row, 1 after the first.
 * `fraction` is random in [0, 1). Units: ms.
 */
export function retryMs(failures: number, bounds: RetryBounds, fraction: number): number {
  const exponent = Math.min(Math.max(0, failures - 1), 40);
  return Math.floor(Math.min(bounds.capMs, bounds.baseMs * 2 ** exponent) * fraction);
}

/** A copy is not sealed again sooner than this after it was accepted: 20 min · 2^k, at most 6 h. */
export function resealMs(reseals: number): number {
  return Math.min(6 * hourMs, 20 * minuteMs * 2 ** Math.min(reseals, 40));
}
