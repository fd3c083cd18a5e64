import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { parseBase64Url, toBase64Url } from "../../../src/shared/bytes.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import { maxRendezvousBytes, rendezvousMs } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import {
  bundleRequestOf,
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  registrationOf,
} from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { answerOf, postJson, registerAccount, startRelay } from "../../support/relay.ts";

const clock = createManualClock();
const nowMs = clock.nowMs();
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

const register = (body: unknown) => postJson(relay, "/v1/accounts", body);

describe("POST /v1/accounts", () => {
  it("registers, and answers a repetition the same", async () => {
    const account = newAccount(nowMs);
    const request = registrationOf(account, relay.origin, nowMs);
    const expected = { status: 201, body: { time: String(nowMs), epoch: relay.epoch } };
    expect(await register(request)).toEqual(expected);
    expect(await register(request)).toEqual(expected);
    const other = newAccount(nowMs);
    const stolen = { ...other, accountMailbox: account.accountMailbox };
    expect(await register(registrationOf(stolen, relay.origin, nowMs))).toMatchObject({
      status: 409,
      body: { error: "conflict" },
    });
  });

  it("refuses a signature over another relay's origin, another list or another key", async () => {
    const account = newAccount(nowMs);
    const good = registrationOf(account, relay.origin, nowMs);
    for (const signature of [
      registrationOf(account, "https://other.example", nowMs).signature,
      registrationOf({ ...account, accessKey: systemRng(32) }, relay.origin, nowMs).signature,
      registrationOf(newAccount(nowMs), relay.origin, nowMs).signature,
    ]) {
      expect(await register({ ...good, signature })).toMatchObject({
        status: 401,
        body: { error: "unauthorised" },
      });
    }
  });

  it("refuses a list that is not version 1 with one device, and a forged one", async () => {
    const account = newAccount(nowMs);
    const good = registrationOf(account, relay.origin, nowMs);
    const second = nextList(account, account.list.entries);
    const two = nextList(
      account,
      [...account.list.entries, entryFor(newDevice(), deviceState.active, nowMs)],
      { version: 1, prevHash: new Uint8Array(32) },
    );
    for (const list of [second, two]) {
      const request = registrationOf({ ...account, list }, relay.origin, nowMs);
      expect(await register(request)).toMatchObject({ status: 400, body: { error: "malformed" } });
    }
    const forged = account.list.record.slice();
    forged[40] = (forged[40] ?? 0) ^ 1;
    expect(await register({ ...good, device_list: toBase64Url(forged) })).toMatchObject({
      status: 401,
    });
  });

  it("refuses a prekey of another device, and one dated over an hour ahead", async () => {
    const account = newAccount(nowMs);
    const other = newDevice();
    const prekey = (ms: number, device = account.devices[0]!): string =>
      toBase64Url(prekeyFor(account, device, ms).record);
    const request = registrationOf(account, relay.origin, nowMs);
    const answer = (change: string) => register({ ...request, prekey: change });
    expect((await answer(prekey(nowMs, other))).body.error).toBe("malformed");
    expect((await answer(prekey(nowMs + 3_600_001))).body.error).toBe("clock-skew");
    expect((await answer(prekey(nowMs + 3_600_000))).status).toBe(201);
  });

  it("refuses malformed JSON, unknown fields and base64url that is not canonical, echoing nothing", async () => {
    const request = registrationOf(newAccount(nowMs), relay.origin, nowMs);
    const secret = request.access_key;
    const bodies: unknown[] = [
      `{"access_key":"${secret}`,
      { ...request, extra: 1 },
      { ...request, access_key: `${secret}=` },
      // The last of 43 characters carries four bits; the other two must be zero.
      { ...request, access_key: `${secret.slice(0, -1)}B` },
      {},
      [],
      "",
    ];
    for (const body of bodies) {
      const answer = await register(body);
      expect(answer).toMatchObject({ status: 400, body: { error: "malformed" } });
      expect(JSON.stringify(answer.body)).not.toContain(secret.slice(0, 8));
      expect(answer.body["time"]).toBe(String(nowMs));
    }
  });
});

describe("POST /v1/bundles", () => {
  it("serves list and prekey against a token of the access key", async () => {
    const bob = await registerAccount(relay, nowMs);
    const answer = await postJson(
      relay,
      "/v1/bundles",
      bundleRequestOf(bob, { origin: relay.origin, nowMs }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body["device_lists"]).toEqual([toBase64Url(bob.list.record)]);
    const prekeys = answer.body["prekeys"];
    expect(prekeys).toHaveLength(1);
    const first: unknown = Array.isArray(prekeys) ? prekeys[0] : undefined;
    const record = parseBase64Url(typeof first === "string" ? first : "");
    expect(record.ok && record.value.length).toBe(1_305);
  });

  it("refuses other keys, other relays, expired tokens and changed claims alike", async () => {
    const bob = await registerAccount(relay, nowMs);
    const options = { origin: relay.origin, nowMs };
    const good = bundleRequestOf(bob, options);
    const stranger = bundleRequestOf(newAccount(nowMs), options);
    const wrong = [
      bundleRequestOf(bob, { ...options, key: systemRng(32) }),
      bundleRequestOf(bob, { ...options, origin: "https://other.example" }),
      bundleRequestOf(bob, { ...options, keyKind: keyKind.invite }),
      { ...good, since: 1 },
      { ...good, token_expiry: String(nowMs + 7_200_000) },
      stranger,
    ];
    const answers = await Promise.all(wrong.map((body) => postJson(relay, "/v1/bundles", body)));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 401, body: { error: "token-invalid" } });
    }
    const expired = bundleRequestOf(bob, { ...options, tokenExpiryMs: nowMs });
    expect((await postJson(relay, "/v1/bundles", expired)).body.error).toBe("token-expired");
  });
});

function box(id: string, number: number): string {
  return `${relay.url}/v1/rendezvous/${id}?box=${number}`;
}

function put(url: string, body: Uint8Array): Promise<Response> {
  return fetch(url, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: new Uint8Array(body),
  });
}

describe("/v1/rendezvous", () => {
  it("writes each of four boxes once and reads it until it expires", async () => {
    const id = toBase64Url(systemRng(16));
    const content = systemRng(maxRendezvousBytes);
    for (let number = 1; number <= 4; number++) {
      expect((await put(box(id, number), content)).status).toBe(201);
    }
    expect(await answerOf(await put(box(id, 1), Uint8Array.of(1)))).toMatchObject({
      status: 409,
      body: { error: "conflict" },
    });
    const read = await fetch(box(id, 1));
    expect(read.headers.get("content-type")).toBe("application/octet-stream");
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true);
    expect((await fetch(box(id, 1))).status).toBe(200);
    const later = createManualClock(nowMs + rendezvousMs);
    await using second = await startRelay({ databaseUrl: db.url, clock: later });
    const gone = await fetch(box(id, 1).replace(relay.url, second.url));
    expect(await answerOf(gone)).toMatchObject({ status: 404, body: { error: "not-found" } });
  });

  it("refuses other boxes, other ids and other sizes", async () => {
    const id = toBase64Url(systemRng(16));
    expect(await answerOf(await fetch(box(id, 2)))).toMatchObject({
      status: 404,
      body: { error: "not-found" },
    });
    for (const url of [box(id, 0), box(id, 5), box("short", 1), box(`${id.slice(0, 21)}B`, 1)]) {
      expect(await answerOf(await put(url, Uint8Array.of(1)))).toMatchObject({
        status: 400,
        body: { error: "malformed" },
      });
    }
    expect((await put(box(id, 1), new Uint8Array(0))).status).toBe(400);
    expect(
      await answerOf(await put(box(id, 1), new Uint8Array(maxRendezvousBytes + 1))),
    ).toMatchObject({ status: 413, body: { error: "too-large" } });
  });
});

describe("/v1/info and /health", () => {
  it("says who it is, in relay time", async () => {
    const info = await answerOf(await fetch(`${relay.url}/v1/info`));
    expect(info).toMatchObject({
      status: 200,
      body: {
        name: "pixie-relay",
        protocol: 1,
        origin: relay.origin,
        epoch: relay.epoch,
        time: String(nowMs),
        retention_days: 30,
        registration: "open",
      },
    });
    for (const path of ["live", "ready"]) {
      expect(await answerOf(await fetch(`${relay.url}/health/${path}`))).toEqual({
        status: 200,
        body: { status: "ok", time: String(nowMs) },
      });
    }
  });

  it("is live but not ready without its database, and refuses as overloaded", async () => {
    const own = await openTestDatabase();
    const cut = await startRelay({ databaseUrl: own.url });
    await own.drop();
    expect((await fetch(`${cut.url}/health/live`)).status).toBe(200);
    expect(await answerOf(await fetch(`${cut.url}/health/ready`))).toMatchObject({
      status: 503,
      body: { status: "unavailable" },
    });
    const request = registrationOf(newAccount(Date.now()), cut.origin, Date.now());
    expect(await postJson(cut, "/v1/accounts", request)).toMatchObject({
      status: 503,
      body: { error: "overloaded", retry_after_ms: 2_000 },
    });
    await cut.close();
  });
});
