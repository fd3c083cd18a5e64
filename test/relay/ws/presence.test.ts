/** R54: who is connected is known from sockets. No lease runs out beside them, however quiet it is. */
import { once } from "node:events";

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import type { Clock } from "../../../src/shared/clock.ts";
import { pingIntervalMs } from "../../../src/shared/limits.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "../../support/relay.ts";

const clock = createManualClock();
// Each ping reads the mailbox in real time: the bound of a statement must not pass meanwhile.
const patient: Clock = {
  nowMs: clock.nowMs,
  schedule: (delayMs, run) => (delayMs === 10_000 ? () => {} : clock.schedule(delayMs, run)),
};
let db: TestDatabase;
let relay: Relay;
let bob: RelayAccount;
beforeAll(async () => {
  db = await openTestDatabase();
  relay = await startRelay({ databaseUrl: db.url, clock: patient });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});
beforeEach(async () => {
  bob = await registerAccount(relay, clock.nowMs());
});

async function send(): Promise<void> {
  const options = { origin: relay.origin, nowMs: clock.nowMs() };
  const { status } = await postUpload(relay, uploadTo(bob, [bob.devices[0]!.mailbox], options));
  expect(status).toBe(202);
}

async function connections(): Promise<number> {
  const metrics = await (await fetch(`${relay.adminUrl}/metrics`)).text();
  return Number(/^pixie_relay_connections (\d+)$/m.exec(metrics)?.[1]);
}

it("R54: an hour of pings and pongs and nothing else, and what comes then is delivered at once", async () => {
  const connection = await connectDevice(relay, bob.devices[0]!);
  await connection.frame("drained");
  for (let sinceMs = 0; sinceMs < 3_600_000; sinceMs += pingIntervalMs) {
    const pinged = once(connection.socket, "ping");
    await clock.advance(pingIntervalMs);
    await pinged;
    // A round trip behind the pong: the relay has read it.
    await connection.request({ type: "mailbox-status" });
  }
  expect(await connections()).toBe(1);
  await send();
  expect(await connection.delivery()).toMatchObject({ seq: 1n });
  await connection.cut();
  while ((await connections()) > 0) await fetch(`${relay.url}/health/live`);
});

it("R54: a connection is known for exactly as long as its socket is there", async () => {
  const connection = await connectDevice(relay, bob.devices[0]!);
  await connection.frame("drained");
  // A day passes without any timer: whatever were a lease would be over.
  clock.jump(clock.nowMs() + 86_400_000);
  expect(await connections()).toBe(1);
  await send();
  expect(await connection.delivery()).toMatchObject({ seq: 1n });
  await connection.cut();
  while ((await connections()) > 0) await fetch(`${relay.url}/health/live`);
});
