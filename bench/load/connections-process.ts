/**
 * Opens and drops many mailbox connections, in a process of its own. Orders are answered when they are
 * carried out; a connection that the relay refuses or closes is counted.
 */
import { performance } from "node:perf_hooks";
import type { Socket } from "node:net";

import type { RelayDevice } from "../../test/support/accounts.ts";
import { DeviceReceiver } from "./pixie-client.ts";

/** What to do. */
export type ConnectionsOrder =
  | {
      readonly type: "connect";
      readonly port: number;
      readonly origin: string;
      readonly devices: readonly RelayDevice[];
      /** Connections that may be on their way at once. */
      readonly atOnce: number;
    }
  /** Cuts so many, without a word. */
  | { readonly type: "drop"; readonly count: number };

/** How it went. Units: ms. */
export interface ConnectionsReport {
  readonly ready: number;
  readonly failed: number;
  readonly elapsedMs: number;
}

const open: Socket[] = [];

async function connectAll(
  order: Extract<ConnectionsOrder, { type: "connect" }>,
): Promise<ConnectionsReport> {
  const startMs = performance.now();
  const target = { system: "pixie", port: order.port, origin: order.origin, accounts: [] } as const;
  let next = 0;
  const counts = { ready: 0, failed: 0 };
  const worker = async (): Promise<void> => {
    for (let device = order.devices[next++]; device !== undefined; device = order.devices[next++]) {
      try {
        const receiver = await DeviceReceiver.connect(target, device, () => {});
        open.push(receiver.socket);
        counts.ready += 1;
      } catch {
        counts.failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: order.atOnce }, worker));
  return { ...counts, elapsedMs: performance.now() - startMs };
}

function drop(count: number): ConnectionsReport {
  for (const socket of open.splice(0, count)) socket.destroy();
  return { ready: open.length, failed: 0, elapsedMs: 0 };
}

process.on("message", (order: ConnectionsOrder) => {
  if (order.type === "drop") process.send?.(drop(order.count));
  else void connectAll(order).then((report) => process.send?.(report));
});
process.send?.("ready");
