/**
 * Expire: keeps partitions ready for the days that accept may use, and drops days whose time is
 * over. Runs at start, every hour, and for a single day when accept meets one it does not know.
 *
 * Spec: docs/protocol.md "Retention": the partition of slot day D is dropped at D + 32.
 */
import { type Clock, dayOf } from "../../shared/clock.ts";
import { dropPartitionAfterDays } from "../../shared/limits.ts";
import { failureCode } from "../store/failure.ts";

/** What expiry acts through. */
export interface ExpireOptions {
  readonly ensureDays: (fromDay: number, toDay: number) => Promise<void>;
  /** Removes unacknowledged items of days before `day`, over all lanes; returns how many. */
  readonly expireItems: (day: number) => Promise<number>;
  readonly dropDaysBefore: (day: number) => Promise<number>;
  readonly purge: (nowMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly onDone: (expired: { readonly items: number; readonly tables: number }) => void;
  readonly onFailure: (code: string) => void;
}

/** Expiry as a running thing. */
export interface Expiry {
  /** Runs once, then every hour. Rejects when the first run cannot make today's partitions. */
  readonly start: () => Promise<void>;
  /** Makes sure that one day can be stored. */
  readonly ensureDay: (day: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const hourMs = 3_600_000;

/** Builds expiry. */
export function createExpiry(options: ExpireOptions): Expiry {
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();
  let closed = false;

  async function ensure(): Promise<void> {
    const today = dayOf(options.clock.nowMs());
    // Yesterday, because senders' clocks differ; the day after tomorrow, because this may fail for a while.
    await options.ensureDays(today - 1, today + 2);
  }

  async function drop(): Promise<void> {
    const firstKept = dayOf(options.clock.nowMs()) - dropPartitionAfterDays + 1;
    // Items before partitions: their room in the mailbox must come back.
    const items = await options.expireItems(firstKept);
    const tables = await options.dropDaysBefore(firstKept);
    await options.purge(options.clock.nowMs());
    if (items + tables > 0) options.onDone({ items, tables });
  }

  async function hourly(): Promise<void> {
    try {
      await ensure();
      await drop();
    } catch (cause) {
      options.onFailure(failureCode(cause));
    }
    plan();
  }

  function plan(): void {
    if (closed) return;
    cancel = options.clock.schedule(hourMs, () => {
      running = hourly();
    });
  }

  return {
    start: async () => {
      await ensure();
      running = hourly();
    },
    ensureDay: (day) => options.ensureDays(day, day),
    close: async () => {
      closed = true;
      cancel?.();
      await running;
    },
  };
}
