/**
 * O14: nothing of anybody is in the log at its loudest, whatever happens to a relay: use, misuse, a
 * refused frame, a database that goes away.
 */
import { afterEach, beforeEach, expect, it } from "vitest";

import type { Relay } from "../../src/relay/index.ts";
import { createLog } from "../../src/relay/log.ts";
import { toBase64Url } from "../../src/shared/bytes.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { uuidFromBytes } from "../../src/shared/ids.ts";
import { type RelayAccount, uploadTo } from "../support/accounts.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import {
  connectDevice,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
  TestConnection,
} from "../support/relay.ts";

let log = "";
let db: TestDatabase;
let relay: Relay;
const forwarded = "198.51.100.23";
beforeEach(async () => {
  log = "";
  db = await openTestDatabase();
  relay = await startRelay({
    databaseUrl: db.url,
    log: createLog({ level: "trace", destination: { write: (line) => void (log += line) } }),
    config: { trustedProxies: ["127.0.0.1/32"] },
  });
});
afterEach(async () => {
  await relay.close();
  await db.drop();
});

function upload(to: RelayAccount, key?: Uint8Array): Uint8Array {
  const boxes = to.devices.map(({ mailbox }) => mailbox);
  const options = { origin: relay.origin, nowMs: systemClock.nowMs(), bucket: 1 };
  return uploadTo(to, boxes, key === undefined ? options : { ...options, key });
}

/** Every form in which bytes could be written down. */
function formsOf(bytes: Uint8Array): readonly string[] {
  const forms = [toBase64Url(bytes), ...["hex", "base64"].map((form) => encode(bytes, form))];
  return bytes.length === 16 ? [...forms, uuidFromBytes(bytes)] : forms;
}

function encode(bytes: Uint8Array, form: string): string {
  return Buffer.from(bytes).toString(form === "hex" ? "hex" : "base64");
}

it("O14: use, misuse and failure leave no token, id, address or body in the log", async () => {
  const account = await registerAccount(relay, systemClock.nowMs());
  const [device] = account.devices;
  if (device === undefined) throw new Error("no device");
  const good = upload(account);
  await postUpload(relay, good);
  const bad = upload(account, new Uint8Array(32).fill(7));
  await postUpload(relay, bad);
  await postUpload(relay, good.subarray(0, 500));
  await fetch(`${relay.url}/v1/accounts?token=planted-token`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": forwarded },
    body: '{"access_key":"planted-secret"',
  });
  await postJson(relay, "/v1/bundles", { account_mailbox: "planted-secret" });
  const phone = await connectDevice(relay, device);
  phone.ack((await phone.delivery()).seq);
  const stranger = new TestConnection(relay);
  await stranger.frame("challenge");
  stranger.send({ type: "auth", device_id: "planted-secret", sig: "planted-token" });
  await stranger.end();
  phone.send('{"type":"ack","seqs":["planted-secret"]}');
  await phone.end();
  // The database goes: every kind of request fails on it.
  await db.drop();
  const late = upload(account);
  await postUpload(relay, late);
  await registerAccount(relay, systemClock.nowMs()).catch(() => undefined);
  await connectDevice(relay, device).catch(() => undefined);

  expect(log.split("\n").length).toBeGreaterThan(5);
  const secrets = [account.accountMailbox, account.accessKey, account.aik.publicKey];
  const ids = [device.mailbox, device.deviceId, device.dsk.publicKey];
  const pieces = [good, bad, late].flatMap((bytes) => [
    bytes.subarray(20, 36),
    bytes.subarray(44, 76),
    bytes.subarray(-32),
  ]);
  for (const bytes of [...secrets, ...ids, ...pieces]) {
    for (const form of formsOf(bytes)) expect(log).not.toContain(form);
  }
  for (const planted of ["planted-secret", "planted-token", forwarded, "access_key", "/v1/"]) {
    expect(log).not.toContain(planted);
  }
  const url = new URL(db.url);
  for (const hidden of [url.pathname.slice(1), url.host]) expect(log).not.toContain(hidden);
});
