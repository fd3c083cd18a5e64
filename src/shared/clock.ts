/**
 * Time as a port: what the time is, and being called later. Tests pass a clock that they move by
 * hand, so nothing in the product reads the platform's clock or sets a timer by itself.
 */

/** Where a program takes time from. */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: () => number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

// setTimeout fires at once above 2^31 − 1 ms (24.8 days).
const maxTimerMs = 2 ** 31 - 1;

/** The platform's clock and timers. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs), maxTimerMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs` on that clock, or rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
    };
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Milliseconds of one day; slot days count these since 1970 UTC. */
export const dayMs = 86_400_000;

/** The UTC day number of a time. Units: days since 1970-01-01. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs);
}
