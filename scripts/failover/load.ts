/**
 * Load through a relay and an independent history of it: every upload that was acknowledged, and every
 * item that a device received. It knows nothing of the relay's tables.
 *
 * A sender repeats the same bytes until they are acknowledged, as a device does.
 */
import { setTimeout as delay } from "node:timers/promises";

import type { Clock } from "../../src/shared/clock.ts";
import { type RelayAccount, uploadTo } from "../../test/support/accounts.ts";
import { postUpload, registerAccount, type RelayAddress } from "../../test/support/relay.ts";
import { consume, type Consumer } from "./consumer.ts";

/** What was seen. Units: seconds. */
export interface Seen {
  readonly acknowledged: number;
  readonly refused: number;
  readonly missing: number;
  readonly twice: number;
  /** The longest time in which nothing was acknowledged. */
  readonly gapSeconds: number;
}

/** A moment in the history. */
export interface Mark {
  readonly acknowledged: number;
  readonly refused: number;
}

/** Running load. */
export interface Load {
  /** Lets it run. Units: ms. */
  readonly run: (forMs: number) => Promise<void>;
  readonly mark: () => Mark;
  /** Waits until what was acknowledged since then has arrived, within a bound, and counts. */
  readonly since: (mark: Mark) => Promise<Seen>;
  /** Stops sending, waits until all that was acknowledged has arrived, and counts. */
  readonly finish: () => Promise<Seen>;
}

const retryMs = 100;
/** After the last acknowledgement everything must have arrived within this. Units: ms. */
const arrivalMs = 60_000;
const idBytes = 16;

/** Starts senders, each to an account of its own with one connected device. */
export async function startLoad(
  relay: RelayAddress,
  { senders, clock }: { readonly senders: number; readonly clock: Clock },
): Promise<Load> {
  const acknowledged: { readonly id: string; readonly atMs: number }[] = [];
  const received = new Map<string, number>();
  const consumers: Consumer[] = [];
  let refused = 0;
  const stop = new AbortController();

  async function send(account: RelayAccount): Promise<void> {
    const [device] = account.devices;
    if (device === undefined) throw new Error("an account without a device");
    while (!stop.signal.aborted) {
      const upload = uploadTo(account, [device.mailbox], {
        origin: relay.origin,
        nowMs: clock.nowMs(),
      });
      while (!stop.signal.aborted && !(await isAccepted(upload))) {
        refused += 1;
        await delay(retryMs);
      }
    }
  }
  async function isAccepted(upload: Uint8Array): Promise<boolean> {
    try {
      const { status, body } = await postUpload(relay, upload);
      const state = body.results?.[0]?.state;
      if (status !== 202 || state === "full") return false;
      acknowledged.push({ id: idOf(upload), atMs: performance.now() });
      return true;
    } catch {
      // The relay cut the connection, or answered nothing.
      return false;
    }
  }
  const accounts: RelayAccount[] = [];
  for (let n = 0; n < senders; n++) accounts.push(await registerAccount(relay, clock.nowMs()));
  for (const account of accounts) {
    const onItem = (item: Uint8Array): void => {
      const id = idOf(item);
      received.set(id, (received.get(id) ?? 0) + 1);
    };
    consumers.push(consume(relay, account, onItem));
  }
  const sending = Promise.all(accounts.map(send));
  const arrived = async (from: number, to: number): Promise<void> => {
    const end = performance.now() + arrivalMs;
    while (count(from, to).missing > 0 && performance.now() < end) await delay(500);
  };
  const count = (from: number, to: number): Seen => {
    const part = acknowledged.slice(from, to);
    // The first gap begins with the last acknowledgement before this part.
    const gaps = part.map(({ atMs }, i) => atMs - (acknowledged[from + i - 1]?.atMs ?? atMs));
    return {
      acknowledged: part.length,
      refused,
      missing: part.filter(({ id }) => !received.has(id)).length,
      twice: part.filter(({ id }) => (received.get(id) ?? 0) > 1).length,
      gapSeconds: Number((gaps.reduce((a, b) => Math.max(a, b), 0) / 1000).toFixed(1)),
    };
  };
  return {
    run: (forMs) => delay(forMs),
    mark: () => ({ acknowledged: acknowledged.length, refused }),
    since: async (mark) => {
      const to = acknowledged.length;
      await arrived(mark.acknowledged, to);
      return { ...count(mark.acknowledged, to), refused: refused - mark.refused };
    },
    finish: async () => {
      stop.abort();
      await sending;
      await arrived(0, acknowledged.length);
      for (const consumer of consumers) await consumer.close();
      return count(0, acknowledged.length);
    },
  };
}

/** The end of the body, which is noise and the same in the upload and the item. */
function idOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(-idBytes)).toString("hex");
}
