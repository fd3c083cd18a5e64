/**
 * `device-drain`: how fast a device that was away takes in what waits for it, from connecting until
 * every message is opened, journalled and acknowledged. The store is on disk, each batch is one
 * synchronous commit, and receipts go out meanwhile.
 *
 * Peer: opening as many items in memory, with no store and no network: the price of the
 * cryptography alone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openItem } from "../src/device/crypto/open.ts";
import type { SenderContext } from "../src/device/crypto/judge-sender.ts";
import type { Device } from "../src/device/device.ts";
import { equalBytes } from "../src/shared/bytes.ts";
import { systemRng } from "../src/shared/rng.ts";
import {
  expectOk,
  openDevice,
  type Pair,
  settled,
  startPair,
  until,
} from "../test/support/pair.ts";
import { at, createPerson, requestOf, sealItem } from "../test/support/people.ts";
import { type Bench, type BenchOptions, machineName, quantile } from "./bench.ts";

const bobKey = "bench";

/** The benchmark. */
export const deviceDrain: Bench = { name: "device-drain", run };

async function run({ quick, emit }: BenchOptions): Promise<void> {
  const [rounds, messages] = quick ? [2, 200] : [5, 400];
  const bobFolder = mkdtempSync(path.join(tmpdir(), "pixie-drain-"));
  const pair = await startPair({ bobFolder, bobKey });
  try {
    await pair.bob.close();
    const ours: number[] = [];
    const peer: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await drainRound(pair, bobFolder, messages));
      peer.push(openRound(messages));
    }
    const [value, peerValue] = [quantile(ours, 0.5), quantile(peer, 0.5)];
    emit({
      bench: deviceDrain.name,
      value: Math.round(value),
      unit: "messages/s",
      samples: ours.length,
      median: Math.round(value),
      // The rate that 99 % of the rounds reached.
      p99: Math.round(quantile(ours, 0.01)),
      peer: "opening the same number of items in memory, without store and network",
      peerValue: Math.round(peerValue),
      ratio: Number((value / peerValue).toFixed(3)),
      machine: machineName(),
    });
  } finally {
    await pair.close();
    rmSync(bobFolder, { recursive: true, force: true });
  }
}

/** Messages per second of one catch-up. */
async function drainRound({ alice }: Pair, dataDir: string, messages: number): Promise<number> {
  const ids = Array.from(
    { length: messages },
    (_, index) => expectOk(alice.send("Bob", `message ${index}`)).messageId,
  );
  const last = ids.at(-1) ?? "";
  await until(alice, "the relay has them all", () => alice.delivery(last)?.state === "accepted");
  const storeKey = { type: "passphrase", passphrase: bobKey } as const;
  const bob: Device = await openDevice({ dataDir, storeKey });
  const drained = new Promise<void>((resolve) => {
    bob.onEvent((event) => {
      if (event.type === "drained") resolve();
    });
  });
  const startMs = performance.now();
  expectOk(bob.start());
  await drained;
  const elapsedMs = performance.now() - startMs;
  const received = expectOk(bob.messages("Alice")).slice(-messages);
  if (received.length < messages) throw new Error(`drained ${received.length} of ${messages}`);
  await settled(bob, alice);
  await bob.close();
  return (messages / elapsedMs) * 1_000;
}

/** Items per second that the cryptography alone opens. */
function openRound(messages: number): number {
  const [alice, bob] = [createPerson(systemRng), createPerson(systemRng)];
  const device = at(bob.devices, 0);
  const request = requestOf(alice, bob);
  const items = Array.from({ length: messages }, () => sealItem(request, systemRng));
  const context: SenderContext = {
    senderOf: () => ({ relation: "contact", lists: [alice.list] }),
    isOpenInvite: () => false,
  };
  const opener = {
    deviceId: device.deviceId,
    findPrekey: (id: Uint8Array) =>
      equalBytes(id, device.prekey.id)
        ? { seed: device.xwingSeed, aik: bob.aik.publicKey }
        : undefined,
  };
  const startMs = performance.now();
  for (const item of items) {
    if (!openItem(item, opener, context).ok) throw new Error("an item did not open");
  }
  return (messages / (performance.now() - startMs)) * 1_000;
}
