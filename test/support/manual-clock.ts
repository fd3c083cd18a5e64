/**
 * A clock that stands still until a test moves it. Timers fire in order of their time, then of
 * their making; one that is set by another fires in the same move when it falls due.
 */
import type { Clock } from "../../src/shared/clock.ts";

/** A clock with a handle to move it. */
export interface ManualClock extends Clock {
  /** Moves time forward and runs what falls due, in order. Between timers, promises get a turn. */
  readonly advance: (deltaMs: number) => Promise<void>;
  /** Sets the time without running anything, as a wrong system clock would. */
  readonly jump: (nowMs: number) => void;
  /** Timers that wait. */
  readonly pending: () => number;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Creates a clock that shows `startMs`. */
export function createManualClock(startMs: number = Date.UTC(2027, 0, 15, 12)): ManualClock {
  let now = startMs;
  let order = 0;
  const timers = new Set<Timer>();

  const nextDue = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueMs > untilMs) continue;
      const earlier =
        next === undefined ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.order < next.order);
      if (earlier) next = timer;
    }
    return next;
  };

  return {
    nowMs: () => now,
    schedule: (delayMs, run) => {
      const timer: Timer = { dueMs: now + Math.max(0, delayMs), order: order++, run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance: async (deltaMs) => {
      const until = now + deltaMs;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.dueMs);
        timer.run();
        await settle();
      }
      now = until;
      await settle();
    },
    jump: (nowMs) => {
      now = nowMs;
    },
    pending: () => timers.size,
  };
}

/** Lets promises that are ready run their continuations. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}
