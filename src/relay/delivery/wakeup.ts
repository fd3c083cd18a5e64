/**
 * Tells the streams of this process that their mailbox holds something new. A wake-up carries a
 * position, so losing or doubling one costs a read and no envelope. The writer may hand over what it
 * has just committed as well; a stream takes it on the spot or reads it later, nobody keeps it.
 *
 * Other processes on the same database are told by neighbours.ts; a stream also looks by itself at
 * every ping.
 */

import type { WaitingItem } from "../store/deliveries.ts";

/** Highest sequence number by mailbox. */
export type News = ReadonlyMap<string, number>;

/** Items by mailbox, committed a moment ago, in order of their numbers. */
export type Fresh = ReadonlyMap<string, readonly WaitingItem[]>;

/** What listens for one mailbox. `through`: something up to this number was committed. */
export type WakeListener = (through: number, fresh: readonly WaitingItem[]) => void;

/** Who is awake in this process. Bound: one listener per open connection. */
export interface Wakeups {
  /** Listens until the returned function is called. */
  readonly subscribe: (mailbox: string, listener: WakeListener) => () => void;
  /** Passes on what was committed. */
  readonly wake: (news: News, fresh?: Fresh) => void;
}

/** A position that says "look again, I do not know how far". */
export const anyPosition = Number.POSITIVE_INFINITY;

/** Builds the wake-ups of one process. */
export function createWakeups(): Wakeups {
  const listenersByMailbox = new Map<string, Set<WakeListener>>();
  return {
    subscribe: (mailbox, listener) => {
      const listeners = listenersByMailbox.get(mailbox) ?? new Set();
      listenersByMailbox.set(mailbox, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && listenersByMailbox.get(mailbox) === listeners) {
          listenersByMailbox.delete(mailbox);
        }
      };
    },
    wake: (news, fresh) => {
      for (const [mailbox, through] of news) {
        const items = fresh?.get(mailbox) ?? [];
        for (const listener of listenersByMailbox.get(mailbox) ?? []) listener(through, items);
      }
    },
  };
}
