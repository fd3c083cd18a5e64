/** Several relay processes on one database, heard through LISTEN on a real server. */
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Relay } from "../../src/relay/index.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { deviceState } from "../../src/shared/crypto/device-list.ts";
import { toBase64Url } from "../../src/shared/bytes.ts";
import { keyKind } from "../../src/shared/crypto/token.ts";
import {
  entryFor,
  newDevice,
  nextList,
  type RelayAccount,
  type RelayDevice,
  uploadTo,
} from "../support/accounts.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import {
  connectDevice,
  type HttpAnswer,
  postUpload,
  registerAccount,
  startRelay,
} from "../support/relay.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(() => db.drop());

function send(relay: Relay, person: RelayAccount, device: RelayDevice): Promise<HttpAnswer> {
  const nowMs = Date.now();
  return postUpload(relay, uploadTo(person, [device.mailbox], { origin: relay.origin, nowMs }));
}

describe("two relays on one database", () => {
  // Their clock stands still, so that neither pings nor beats can stand in for a notification.
  const clock = createManualClock(Date.now());
  let first: Relay;
  let second: Relay;
  beforeEach(async () => {
    const config = { publicUrl: "https://relay.example" };
    first = await startRelay({ databaseUrl: db.url, clock, config });
    second = await startRelay({ databaseUrl: db.url, clock, config });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
  });

  it("R5: what one accepts, the other delivers, with no ping in between", async () => {
    const bob = await registerAccount(first, clock.nowMs());
    const [phone] = bob.devices;
    const connection = await connectDevice(second, phone!);
    await connection.frame("drained");
    for (let round = 1; round <= 5; round++) {
      expect(await send(first, bob, phone!)).toMatchObject({ status: 202 });
      const { seq } = await connection.delivery();
      expect(seq).toBe(BigInt(round));
      connection.ack(seq);
    }
    await connection.cut();
  });

  it("R42: what they tell each other carries no payload, however much there is to tell", async () => {
    const payloads: string[] = [];
    const listener = postgres(db.url, { max: 1, onnotice: () => {} });
    for (const topic of ["mailboxes", "recipients"]) {
      await listener.listen(`pixie_relay_${topic}`, (payload) => void payloads.push(payload));
    }
    const people = await Promise.all(
      Array.from({ length: 40 }, () => registerAccount(first, clock.nowMs())),
    );
    const posts = Array.from({ length: 200 }, (_, at) => {
      const person = people[at % people.length]!;
      return send(first, person, person.devices[0]!);
    });
    for (const { status } of await Promise.all(posts)) expect(status).toBe(202);
    // A word behind theirs: once it is heard, so are they.
    await listener.notify("pixie_relay_mailboxes", "ours");
    while (!payloads.includes("ours")) await listener`select 1`;
    expect(new Set(payloads)).toEqual(new Set(["", "ours"]));
    await listener.end();
  });

  it("a connection at one displaces that at the other, which is told", async () => {
    const bob = await registerAccount(first, clock.nowMs());
    const [phone] = bob.devices;
    const before = await connectDevice(first, phone!);
    await before.frame("drained");
    const after = await connectDevice(second, phone!);
    await before.frame("displaced");
    expect(await before.end()).toBe(4001);
    expect(await send(first, bob, phone!)).toMatchObject({ status: 202 });
    expect(await after.delivery()).toMatchObject({ seq: 1n });
    await after.cut();
  });

  it("R34: a device removed at one is shut out of the other", async () => {
    const bob = await registerAccount(first, clock.nowMs());
    const [phone] = bob.devices;
    const tablet = newDevice();
    const nowMs = clock.nowMs();
    const admin = await connectDevice(first, phone!);
    const replace = (account: RelayAccount, state: 0 | 2): RelayAccount => {
      const entries = [
        entryFor(phone!, deviceState.admin, nowMs),
        { ...entryFor(tablet, state, nowMs) },
      ];
      return { ...account, devices: [phone!, tablet], list: nextList(account, entries) };
    };
    const update = (from: RelayAccount, to: RelayAccount) =>
      admin.request({
        type: "update-device-list",
        expected_version: from.list.version,
        expected_hash: toBase64Url(from.list.hash),
        device_list: toBase64Url(to.list.record),
      });
    const joined = replace(bob, deviceState.active);
    expect(await update(bob, joined)).toMatchObject({ ok: { version: 2 } });
    const guest = await connectDevice(second, tablet);
    await guest.frame("drained");
    expect(await update(joined, replace(joined, deviceState.revoked))).toMatchObject({
      ok: { version: 3 },
    });
    expect(await guest.frame("refused")).toMatchObject({ error: "unauthorised" });
    expect(await guest.end()).toBe(4403);
    await admin.cut();
  });
});

/** Kills the connections that listen, as soon as there is one. */
async function killListeners(): Promise<void> {
  for (let killed = 0; killed === 0;) {
    const rows = await db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and (query like 'listen %' or query like '%pg_notify%')
        and pid <> pg_backend_pid()`;
    killed = rows.length;
  }
}

it("a killed LISTEN connection is opened again, and what was missed meanwhile is found", async () => {
  const config = { publicUrl: "https://relay.example" };
  await using first = await startRelay({ databaseUrl: db.url, config });
  await using second = await startRelay({ databaseUrl: db.url, config });
  const bob = await registerAccount(first, systemClock.nowMs());
  const [phone] = bob.devices;
  const connection = await connectDevice(second, phone!);
  await connection.frame("drained");
  for (let round = 1; round <= 5; round++) {
    await killListeners();
    expect(await send(first, bob, phone!)).toMatchObject({ status: 202 });
    connection.ack((await connection.delivery()).seq);
  }
  expect(connection.deliveries.map(({ seq }) => seq)).toEqual([1n, 2n, 3n, 4n, 5n]);
  await connection.cut();
});

it("what one lets in or shuts out, the other does at once, with no clock that moves", async () => {
  const clock = createManualClock(Date.now());
  const config = { publicUrl: "https://relay.example" };
  await using first = await startRelay({ databaseUrl: db.url, clock, config });
  await using second = await startRelay({ databaseUrl: db.url, clock, config });
  const nowMs = clock.nowMs();
  const bob = await registerAccount(first, nowMs);
  const [phone] = bob.devices;
  const admin = await connectDevice(first, phone!);
  const key = new Uint8Array(32).fill(7);
  const invite = {
    type: "invite-key",
    key: toBase64Url(key),
    expires: String(nowMs + 1e6),
  } as const;
  const sendBy = (relay: Relay): Promise<HttpAnswer> =>
    postUpload(
      relay,
      uploadTo(bob, [phone!.mailbox], {
        origin: relay.origin,
        nowMs,
        key,
        keyKind: keyKind.invite,
      }),
    );
  // Both remember the account without the invite.
  for (const relay of [first, second]) expect((await send(relay, bob, phone!)).status).toBe(202);
  expect(await admin.request({ ...invite, revoked: false })).toMatchObject({ ok: {} });
  for (const relay of [first, second]) expect((await sendBy(relay)).status).toBe(202);
  expect(await admin.request({ ...invite, revoked: true })).toMatchObject({ ok: {} });
  expect(await sendBy(first)).toMatchObject({ status: 401 });
  // The other process is told right after the reply: until it hears, it goes by what it knew.
  let answer = await sendBy(second);
  while (answer.status === 202) answer = await sendBy(second);
  expect(answer).toMatchObject({ status: 401, body: { error: "token-invalid" } });
  await admin.cut();
});
