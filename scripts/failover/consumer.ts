/**
 * A device that takes in everything and acknowledges it, and connects again whenever it is cut off.
 * An item that comes again under its number was not acknowledged in time: that is no second copy.
 */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import type { RelayAccount } from "../../test/support/accounts.ts";
import { authFrameOf, type RelayAddress, TestConnection } from "../../test/support/relay.ts";

/** A running device. */
export interface Consumer {
  readonly close: () => Promise<void>;
}

const againMs = 200;

/** Starts it. `onItem` is called once for each number. */
export function consume(
  relay: RelayAddress,
  account: RelayAccount,
  onItem: (item: Uint8Array) => void,
): Consumer {
  const known = new Set<bigint>();
  const closing = new AbortController();
  let connection: TestConnection | undefined;
  const running = (async () => {
    while (!closing.signal.aborted) {
      connection = new TestConnection(relay);
      try {
        await take(connection);
      } catch {
        // Cut off, or refused while the database is away.
        connection.socket.terminate();
      }
      if (!closing.signal.aborted) await delay(againMs);
    }
  })();

  async function take(from: TestConnection): Promise<void> {
    const [device] = account.devices;
    if (device === undefined) throw new Error("an account without a device");
    from.send(authFrameOf(device, await from.frame("challenge"), relay.origin));
    from.epoch = (await from.frame("ready")).epoch;
    for (;;) {
      const { seq, item } = await from.delivery();
      if (!known.has(seq)) onItem(item);
      known.add(seq);
      from.ack(seq);
    }
  }
  return {
    close: async () => {
      closing.abort();
      const { socket, closed: isClosed } = connection ?? {};
      if (socket !== undefined && isClosed === undefined) {
        socket.terminate();
        if (socket.readyState !== socket.CLOSED) await once(socket, "close");
      }
      await running;
    },
  };
}
