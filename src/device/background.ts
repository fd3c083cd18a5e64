/**
 * Work that nobody awaits while it runs: fetches after a commit, requests to the relay. It is
 * counted, so that a device settles and closes only when it is done, and people who wait for a
 * change are told.
 */

export interface Background {
  /** Runs work that handles its own failures. A bug in it surfaces as an unhandled rejection. */
  readonly run: (work: () => Promise<unknown>) => void;
  readonly busy: () => boolean;
  /** Something may have changed: wakes whoever waits. */
  readonly changed: () => void;
  /** Resolves at the next change. */
  readonly nextChange: () => Promise<void>;
  /** Resolves when nothing runs any more. */
  readonly idle: () => Promise<void>;
}

/** Builds an empty one. Bound: its callers start at most one task per account and connection. */
export function createBackground(): Background {
  const running = new Set<Promise<unknown>>();
  let waiters: (() => void)[] = [];
  const changed = (): void => {
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  };
  const nextChange = (): Promise<void> =>
    new Promise((resolve) => {
      waiters.push(resolve);
    });
  return {
    run: (work) => {
      const task = work().finally(() => {
        running.delete(task);
        changed();
      });
      running.add(task);
    },
    busy: () => running.size > 0,
    changed,
    nextChange,
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
