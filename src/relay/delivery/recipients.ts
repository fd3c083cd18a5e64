/**
 * What this process remembers of recipients, so that not every upload costs a lookup. Who is let in
 * may be judged from memory; nobody is ever refused from it (admission.ts reads afresh first).
 *
 * An entry is forgotten when this process changes the account, when another says that it changed one,
 * and after a second in any case. Bound: `maxAccounts`; the one used longest ago goes first.
 */
import type { Clock } from "../../shared/clock.ts";
import type { Recipient } from "../store/accounts.ts";

/** Where recipients come from. */
export interface RecipientsOptions {
  readonly read: (account: string) => Promise<Recipient | undefined>;
  readonly clock: Clock;
  readonly maxAccounts?: number;
}

/** Recipients, remembered and read. */
export interface Recipients {
  /** What was read at most `maxAgeMs` ago. Unknown accounts are not remembered. */
  readonly remembered: (account: string) => Recipient | undefined;
  /** Reads from the database, and remembers. */
  readonly read: (account: string) => Promise<Recipient | undefined>;
  /** Call after every write that changes what lets somebody in, whatever came of it. */
  readonly forget: (account: string) => void;
  readonly forgetAll: () => void;
}

interface Entry {
  readonly recipient: Recipient;
  readonly readMs: number;
}

/** Bounds what a lost word of another process can cost. Units: ms. */
export const maxAgeMs = 1_000;
/** An account takes 1 to 6 kB: 8 to 50 MB. */
const defaultMaxAccounts = 8_192;

/** Builds the memory. */
export function createRecipients({
  read,
  clock,
  maxAccounts = defaultMaxAccounts,
}: RecipientsOptions): Recipients {
  const entryByAccount = new Map<string, Entry>();
  // Counts changes: what was read before one must not be remembered after it.
  let changes = 0;

  function remember(account: string, entry: Entry): void {
    // A map keeps insertion order: moving a used key to the end leaves the idlest one in front.
    entryByAccount.delete(account);
    if (entryByAccount.size >= maxAccounts) {
      const idlest = entryByAccount.keys().next();
      if (idlest.done !== true) entryByAccount.delete(idlest.value);
    }
    entryByAccount.set(account, entry);
  }

  return {
    remembered: (account) => {
      const entry = entryByAccount.get(account);
      if (entry === undefined) return undefined;
      const ageMs = clock.nowMs() - entry.readMs;
      if (ageMs < 0 || ageMs >= maxAgeMs) {
        entryByAccount.delete(account);
        return undefined;
      }
      remember(account, entry);
      return entry.recipient;
    },
    read: async (account) => {
      const before = { changes, readMs: clock.nowMs() };
      const recipient = await read(account);
      if (recipient !== undefined && before.changes === changes) {
        remember(account, { recipient, readMs: before.readMs });
      }
      return recipient;
    },
    forget: (account) => {
      changes += 1;
      entryByAccount.delete(account);
    },
    forgetAll: () => {
      changes += 1;
      entryByAccount.clear();
    },
  };
}
