/** A relay whose disk is nearly full: what it refuses, and what goes on. */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { Relay } from "../../src/relay/index.ts";
import { toBase64Url } from "../../src/shared/bytes.ts";
import { dayOf, systemClock } from "../../src/shared/clock.ts";
import { newAccount, type RelayAccount, registrationOf, uploadTo } from "../support/accounts.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import {
  answerOf,
  connectDevice,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
} from "../support/relay.ts";

let db: TestDatabase;
let relay: Relay;
let bob: RelayAccount;
const nowMs = systemClock.nowMs();

beforeAll(async () => {
  db = await openTestDatabase();
  const roomy = await startRelay({ databaseUrl: db.url });
  bob = await registerAccount(roomy, nowMs);
  const waiting = uploadTo(bob, [bob.devices[0]!.mailbox], { origin: roomy.origin, nowMs });
  await postUpload(roomy, waiting);
  await roomy.close();
  // No disk has a petabyte to spare.
  const config = { storageDir: tmpdir(), storageReserveMb: 999_999_999 };
  relay = await startRelay({ databaseUrl: db.url, config });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});

const upload = (change: Parameters<typeof uploadTo>[2] | object = {}) =>
  uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs, ...change });

it("O20: refuses uploads, registrations and boxes as storage-full, saying when to come back", async () => {
  const newcomer = registrationOf(newAccount(nowMs), relay.origin, nowMs);
  const box = `${relay.url}/v1/rendezvous/${toBase64Url(new Uint8Array(16).fill(7))}?box=1`;
  const put = fetch(box, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: new Uint8Array(8),
  });
  const answers = await Promise.all([
    postUpload(relay, upload()),
    postJson(relay, "/v1/accounts", newcomer),
    put.then(answerOf),
  ]);
  for (const { status, body } of answers) {
    expect(status).toBe(507);
    expect(body).toMatchObject({ error: "storage-full", retry_after_ms: 60_000 });
  }
});

it("says so only once everything else about an upload is right", async () => {
  const wrongKey = await postUpload(relay, upload({ key: new Uint8Array(32) }));
  expect(wrongKey.body.error).toBe("token-invalid");
  const slot = new Uint8Array(16).fill(1);
  new DataView(slot.buffer).setUint16(0, dayOf(nowMs) - 3);
  expect((await postUpload(relay, upload({ slot }))).body.error).toBe("clock-skew");
});

it("stays ready, and says what is wrong", async () => {
  const answer = await answerOf(await fetch(`${relay.url}/health/ready`));
  expect(answer).toMatchObject({ status: 200, body: { status: "storage-full" } });
  const metrics = await (await fetch(`${relay.adminUrl}/metrics`)).text();
  expect(metrics).toContain("pixie_relay_storage_full 1");
  expect(metrics).toMatch(/pixie_relay_storage_free_bytes [1-9]/);
});

it("goes on delivering, acknowledging and answering devices", async () => {
  const device = await connectDevice(relay, bob.devices[0]!);
  const { seq } = await device.delivery();
  device.ack(seq);
  await device.frame("drained");
  const status = await device.request({ type: "mailbox-status" });
  expect(status.ok).toMatchObject({ queued: 0 });
  await device.cut();
});
