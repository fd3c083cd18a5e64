/** A relay that is about to be sent nonsense: whether it keeps any of it, and whether it still serves. */
import { expect } from "vitest";

import type { Relay } from "../../src/relay/index.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { type RelayAccount, uploadTo } from "./accounts.ts";
import { memoryInUse } from "./memory.ts";
import { openTestDatabase, type TestDatabase } from "./postgres.ts";
import { spread } from "./raw-post.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "./relay.ts";

/** A relay with one account. */
export interface FuzzedRelay extends AsyncDisposable {
  readonly db: TestDatabase;
  readonly relay: Relay;
  readonly bob: RelayAccount;
  readonly nowMs: number;
}

/** What is too small to be a body, a socket or a connection that somebody holds. Units: bytes. */
export const nothingKept = 1_000;

/** Starts one on a database of its own. */
export async function startFuzzedRelay(): Promise<FuzzedRelay> {
  const nowMs = systemClock.nowMs();
  const db = await openTestDatabase();
  const relay = await startRelay({ databaseUrl: db.url });
  const bob = await registerAccount(relay, nowMs);
  return {
    db,
    relay,
    bob,
    nowMs,
    [Symbol.asyncDispose]: async () => {
      await relay.close();
      await db.drop();
    },
  };
}

/**
 * Does the work `count` times in five parts; returns what each time leaves behind at least: the least
 * growth of the last four parts, since the collector's own noise is now in one part and now in another.
 * Units: bytes.
 */
export async function keptPerTime(
  count: number,
  work: () => Promise<void>,
  atOnce?: number,
): Promise<number> {
  const part = count / 5;
  await spread(part, work, atOnce);
  let before = await memoryInUse();
  let least = Infinity;
  for (let done = part; done < count; done += part) {
    await spread(part, work, atOnce);
    const after = await memoryInUse();
    least = Math.min(least, after - before);
    before = after;
  }
  return least / part;
}

/** An upload of the account's own. */
export function soundUpload({ bob, relay, nowMs }: FuzzedRelay): Uint8Array {
  return uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs });
}

/** Sends, delivers and acknowledges one honest envelope. */
export async function expectService(fuzzed: FuzzedRelay): Promise<void> {
  expect((await postUpload(fuzzed.relay, soundUpload(fuzzed))).status).toBe(202);
  const device = await connectDevice(fuzzed.relay, fuzzed.bob.devices[0]!);
  const { seq } = await device.delivery();
  device.ack(seq);
  await device.frame("drained");
  await device.cut();
}
