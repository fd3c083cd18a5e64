/** R11: no mark of how far a device was sent ever stands between it and what it did not acknowledge. */
import { afterAll, beforeAll, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { uuidOf } from "../../../src/relay/store/sql-values.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { type RelayAccount, type RelayDevice, uploadTo } from "../../support/accounts.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "../../support/relay.ts";
import { streamHarness } from "../../support/stream-harness.ts";

let db: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  db = await openTestDatabase();
  relay = await startRelay({ databaseUrl: db.url });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});

async function sendTo(bob: RelayAccount, device: RelayDevice, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const options = { origin: relay.origin, nowMs: systemClock.nowMs() };
    const { status } = await postUpload(relay, uploadTo(bob, [device.mailbox], options));
    expect(status).toBe(202);
  }
}

async function sentMark(device: RelayDevice): Promise<number> {
  const [row] = await db.sql<{ mark: number }[]>`
    select delivered_seq::int as mark from mailbox where mailbox = ${uuidOf(device.box)}`;
  return row?.mark ?? -1;
}

it("R11: a device that lost what it was sent is sent all of it again", async () => {
  const bob = await registerAccount(relay, systemClock.nowMs());
  const [phone] = bob.devices;
  await sendTo(bob, phone!, 5);
  const first = await connectDevice(relay, phone!);
  for (let at = 0; at < 5; at++) await first.delivery();
  await first.cut();
  while ((await sentMark(phone!)) < 5) await fetch(`${relay.url}/health/live`);
  const back = await connectDevice(relay, phone!);
  const came = [];
  for (let at = 0; at < 5; at++) came.push(await back.delivery());
  expect(came.map(({ seq, redelivered }) => [seq, redelivered])).toEqual(
    [1n, 2n, 3n, 4n, 5n].map((seq) => [seq, true]),
  );
  await back.cut();
});

it("R11: a mark that ran far ahead hides nothing", async () => {
  const bob = await registerAccount(relay, systemClock.nowMs());
  const [phone] = bob.devices;
  await sendTo(bob, phone!, 2);
  await db.sql`update mailbox set delivered_seq = 1000000 where mailbox = ${uuidOf(phone!.box)}`;
  const connection = await connectDevice(relay, phone!);
  expect([(await connection.delivery()).seq, (await connection.delivery()).seq]).toEqual([1n, 2n]);
  expect(connection.log.some((each) => "type" in each && each.type === "drained")).toBe(false);
  await sendTo(bob, phone!, 1);
  const last = await connection.delivery();
  expect(last.seq).toBe(3n);
  connection.ack(1n, 2n, 3n);
  expect(await connection.frame("drained")).toMatchObject({ through: "2" });
  await connection.cut();
});

it("R11: a read that fails ends the connection before anything is said to be drained", async () => {
  const { stream, seqs, ends, drained, settle, commit, stored, failReads } = streamHarness([0, 0]);
  stream.start();
  await settle();
  stream.acknowledge([1, 2]);
  await settle();
  expect([seqs(), drained]).toEqual([[1, 2], [2]]);
  failReads();
  stream.wake(commit(0));
  await settle();
  expect([seqs(), ends, stored.length]).toEqual([[1, 2], ["failed"], 1]);
  // The next connection knows nothing of the failed one's reading.
  const next = streamHarness(stored.map(({ bucket }) => bucket));
  next.stream.start();
  await next.settle();
  expect([next.seqs(), next.drained]).toEqual([[1], []]);
});
