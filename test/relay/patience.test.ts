/**
 * A database that hangs, as one does whose standby does not answer: nobody waits longer than the bound
 * of a commit, and everybody is told to come back rather than that they did something wrong.
 */
import { expect, it } from "vitest";
import postgres from "postgres";

import type { Relay } from "../../src/relay/index.ts";
import { newAccount, registrationOf, uploadTo } from "../support/accounts.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { openTestDatabase } from "../support/postgres.ts";
import {
  authFrameOf,
  connectDevice,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
  TestConnection,
} from "../support/relay.ts";

it("answers overloaded within ten seconds, on every path that waits for the database", async () => {
  await using db = await openTestDatabase();
  const clock = createManualClock(Date.now());
  await using relay = await startRelay({
    databaseUrl: db.url,
    clock,
    config: { databaseConnections: 8 },
  });
  const nowMs = clock.nowMs();
  const bob = await registerAccount(relay, nowMs);
  const device = bob.devices[0]!;
  const newcomer = registrationOf(newAccount(nowMs), relay.origin, nowMs);
  const upload = uploadTo(bob, [device.mailbox], { origin: relay.origin, nowMs });
  const connection = new TestConnection(relay);
  const challenge = await connection.frame("challenge");

  const locked = await lockTables(db.url);
  const answers = Promise.all([
    postJson(relay, "/v1/accounts", newcomer),
    postUpload(relay, upload),
    connection.send(authFrameOf(device, challenge, relay.origin)) ?? connection.frame("refused"),
  ]);
  await locked.waiters(3);
  await passTime(clock, relay, answers);
  const [registered, uploaded, refused] = await answers;
  expect(registered).toMatchObject({ status: 503, body: { error: "overloaded" } });
  expect(uploaded).toMatchObject({ status: 503, body: { error: "overloaded" } });
  // Not `unauthorised`: a device would take that for final.
  expect(refused).toMatchObject({ error: "overloaded" });
  expect(await connection.end()).toBe(1011);

  await locked.release();
  expect((await postJson(relay, "/v1/accounts", newcomer)).status).toBe(201);
  const again = await postUpload(relay, upload);
  expect(again.status).toBe(202);
});

it("ends a connection whose read never comes back, and holds up no other of its lane", async () => {
  await using db = await openTestDatabase();
  const clock = createManualClock(Date.now());
  await using relay = await startRelay({ databaseUrl: db.url, clock });
  const nowMs = clock.nowMs();
  const [bob, carol] = [await registerAccount(relay, nowMs), await registerAccount(relay, nowMs)];
  for (const person of [bob, carol]) {
    const options = { origin: relay.origin, nowMs };
    expect(
      (await postUpload(relay, uploadTo(person, [person.devices[0]!.mailbox], options))).status,
    ).toBe(202);
  }

  const locked = await lockTables(db.url, "item");
  const stuck = await connectDevice(relay, bob.devices[0]!);
  await locked.waiters(1);
  await passTime(clock, relay, stuck.end());
  expect(stuck.closed).toEqual({ code: 1011 });

  await locked.release();
  const next = await connectDevice(relay, carol.devices[0]!);
  next.ack((await next.delivery()).seq);
  await next.frame("drained");
  await next.cut();
});

/** Holds tables; by default what registering, accepting and claiming write to. */
async function lockTables(url: string, tables = "mailbox, account, access_key") {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const session = await sql.reserve();
  await session`begin`;
  await session.unsafe(`lock table ${tables} in access exclusive mode`);
  const observer = postgres(url, { max: 1, onnotice: () => {} });
  return {
    /** Resolves when at least that many statements wait for the lock. */
    waiters: async (count: number) => {
      for (;;) {
        const [row] = await observer<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        if ((row?.waiting ?? 0) >= count) return;
      }
    },
    release: async () => {
      await session`rollback`;
      session.release();
      await sql.end();
      await observer.end();
    },
  };
}

/** Moves the clock until everybody was answered. */
async function passTime(
  clock: ManualClock,
  relay: Relay,
  answers: Promise<unknown>,
): Promise<void> {
  const done = answers.then(() => true);
  for (let steps = 0; steps < 30; steps++) {
    await clock.advance(1_000);
    // A real turn, in which answers travel.
    const turn = fetch(`${relay.url}/health/live`).then(() => false);
    if (await Promise.race([done, turn])) return;
  }
}
