/** Rotating the access key, and the reserve that its predecessors open. */
import { afterAll, beforeAll, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import {
  maxReserveBundles,
  maxReserveItems,
  maxRetiredKeys,
  retiredKeyMs,
} from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { bundleRequestOf, type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { mailboxRow } from "../../support/mailboxes.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import {
  connectDevice,
  type HttpAnswer,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
  type TestConnection,
} from "../../support/relay.ts";

const clock = createManualClock();
let db: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  db = await openTestDatabase();
  relay = await startRelay({ databaseUrl: db.url, clock });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});

/** Rotates; returns the new key, or why it was refused. */
async function rotate(connection: TestConnection, key = systemRng(32)): Promise<Uint8Array> {
  const reply = await connection.request({ type: "rotate-access-key", key: toBase64Url(key) });
  if (reply.error !== undefined) throw new Error(reply.error.code);
  return key;
}

function send(bob: RelayAccount, key: Uint8Array, bucket = 0): Promise<HttpAnswer> {
  const [phone] = bob.devices;
  const options = { origin: relay.origin, nowMs: clock.nowMs(), key, bucket };
  return postUpload(relay, uploadTo(bob, [phone!.mailbox], options));
}

/** The state of the one copy, or the refusal. */
async function outcome(bob: RelayAccount, key: Uint8Array, bucket = 0): Promise<string> {
  const { status, body } = await send(bob, key, bucket);
  return status === 202 ? (body.results?.[0]?.state ?? "none") : (body.error ?? "none");
}

function fetchBundle(bob: RelayAccount, key: Uint8Array): Promise<HttpAnswer> {
  const options = { origin: relay.origin, nowMs: clock.nowMs(), key };
  return postJson(relay, "/v1/bundles", bundleRequestOf(bob, options));
}

it("the new key counts at once, the old one for the smallest bucket only", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = await connectDevice(relay, bob.devices[0]!);
  expect(await outcome(bob, bob.accessKey, 1)).toBe("stored");
  const next = systemRng(32);
  expect(await outcome(bob, next)).toBe("token-invalid");
  await rotate(connection, next);
  // Repeating it changes nothing; a key that was retired does not come back.
  await rotate(connection, next);
  await expect(rotate(connection, bob.accessKey)).rejects.toThrow("conflict");
  expect(await outcome(bob, next, 1)).toBe("stored");
  expect(await outcome(bob, bob.accessKey)).toBe("stored");
  expect(await outcome(bob, bob.accessKey, 1)).toBe("token-invalid");
  const invited = { origin: relay.origin, nowMs: clock.nowMs(), key: bob.accessKey };
  const asInvite = { ...invited, keyKind: keyKind.invite };
  const upload = uploadTo(bob, [bob.devices[0]!.mailbox], asInvite);
  expect(await postUpload(relay, upload)).toMatchObject({ status: 401 });
  await connection.cut();
});

it("the reserve is one for all old keys and apart from the quota, and acknowledging frees it", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = await connectDevice(relay, bob.devices[0]!);
  const second = await rotate(connection);
  const current = await rotate(connection);
  await connection.cut();
  for (let sent = 0; sent < maxReserveItems; sent++) {
    expect(await outcome(bob, sent % 2 === 0 ? bob.accessKey : second)).toBe("stored");
  }
  expect(await outcome(bob, bob.accessKey)).toBe("full");
  expect(await outcome(bob, second)).toBe("full");
  expect(await outcome(bob, current)).toBe("stored");
  const row = await mailboxRow(db.sql, bob.devices[0]!.box);
  expect(row).toMatchObject({ items: 1, bytes: 2_248, refused: 0 });
  const again = await connectDevice(relay, bob.devices[0]!);
  expect(again.ready.queued).toBe(maxReserveItems + 1);
  for (let i = 0; i <= maxReserveItems; i++) again.ack((await again.delivery()).seq);
  await again.frame("drained");
  expect(await outcome(bob, second)).toBe("stored");
  expect(await mailboxRow(db.sql, bob.devices[0]!.box)).toMatchObject({ items: 0, bytes: 0 });
  await again.cut();
});

it("a full reserve and one upload of many keep their verdicts when they come at once", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = await connectDevice(relay, bob.devices[0]!);
  await rotate(connection);
  await connection.cut();
  const all = await Promise.all(Array.from({ length: 30 }, () => outcome(bob, bob.accessKey)));
  expect(all.filter((each) => each === "stored")).toHaveLength(maxReserveItems);
  expect(all.filter((each) => each === "full")).toHaveLength(30 - maxReserveItems);
});

it("old keys fetch four bundles a day between them, and the current one as many as it likes", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = await connectDevice(relay, bob.devices[0]!);
  const second = await rotate(connection);
  const current = await rotate(connection);
  await connection.cut();
  for (let asked = 0; asked < maxReserveBundles; asked++) {
    expect((await fetchBundle(bob, asked % 2 === 0 ? bob.accessKey : second)).status).toBe(200);
  }
  const refused = await fetchBundle(bob, second);
  expect(refused).toMatchObject({ status: 429, body: { error: "rate-limited" } });
  expect(refused.body["retry_after_ms"]).toBe(dayMs - (clock.nowMs() % dayMs));
  expect((await fetchBundle(bob, current)).status).toBe(200);
  await clock.advance(dayMs);
  expect((await fetchBundle(bob, bob.accessKey)).status).toBe(200);
});

it("each of the four newest old keys is honoured, for 45 days", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const keys = [bob.accessKey];
  for (let i = 0; i <= maxRetiredKeys; i++) {
    const connection = await connectDevice(relay, bob.devices[0]!);
    keys.push(await rotate(connection));
    await connection.cut();
  }
  const [oldest, ...honoured] = keys;
  expect(await outcome(bob, oldest!)).toBe("token-invalid");
  for (const key of honoured) expect(await outcome(bob, key)).toBe("stored");
  const kept = await db.sql`
    select 1 from access_key where account = ${Buffer.from(bob.accountMailbox).toString("hex")}`;
  expect(kept).toHaveLength(maxRetiredKeys + 1);
  await clock.advance(retiredKeyMs);
  const outcomes = [];
  for (const key of honoured) outcomes.push(await outcome(bob, key));
  expect(outcomes).toEqual([...Array<string>(maxRetiredKeys).fill("token-invalid"), "stored"]);
});

it("two devices that rotate at once leave one current key", async () => {
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = await connectDevice(relay, bob.devices[0]!);
  const tries = await Promise.allSettled(Array.from({ length: 6 }, () => rotate(connection)));
  expect(tries.some(({ status }) => status === "fulfilled")).toBe(true);
  const rows = await db.sql`
    select account from access_key where retired_at_ms is null group by account having count(*) <> 1`;
  expect(rows).toHaveLength(0);
  await connection.cut();
});
