import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { dayMs, dayOf } from "../../../src/shared/clock.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import { maxTokenLifetimeMs, maxUploadBytes } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { makeSlot } from "../../../src/shared/wire/envelope.ts";
import { newDevice, type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { answerOf, postUpload, registerAccount, startRelay } from "../../support/relay.ts";

describe("POST /v1/envelopes", () => {
  const clock = createManualClock();
  const nowMs = clock.nowMs();
  let db: TestDatabase;
  let relay: Relay;
  let bob: RelayAccount;
  beforeAll(async () => {
    db = await openTestDatabase();
    relay = await startRelay({ databaseUrl: db.url, clock });
    bob = await registerAccount(relay, nowMs);
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  const upload = (change: Partial<Parameters<typeof uploadTo>[2]> = {}): Uint8Array =>
    uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs, ...change });
  const count = async (): Promise<number> => {
    const [row] = await db.sql<{ count: number }[]>`select count(*)::int as count from item`;
    return row?.count ?? -1;
  };
  /** Status, code and how many items an upload left behind. */
  const outcome = async (bytes: Uint8Array): Promise<readonly unknown[]> => {
    const before = await count();
    const { status, body } = await postUpload(relay, bytes);
    return [status, body.error, (await count()) - before];
  };

  it("answers 202 with each copy's state, and says again what it said for a repeated slot", async () => {
    const bytes = upload();
    const mailbox = bob.devices[0]!.box;
    const answer = await postUpload(relay, bytes);
    expect(answer).toEqual({
      status: 202,
      body: { time: String(nowMs), results: [{ mailbox, state: "stored" }], unaddressed: [] },
    });
    expect(await postUpload(relay, bytes)).toEqual({
      status: 202,
      body: { time: String(nowMs), results: [{ mailbox, state: "duplicate" }], unaddressed: [] },
    });
  });

  it("refuses every byte of header and every 97th after it when flipped", async () => {
    const bytes = upload();
    const at = (index: number): Uint8Array => {
      const flipped = bytes.slice();
      flipped[index] = (flipped[index] ?? 0) ^ 0x01;
      return flipped;
    };
    const before = await count();
    for (let index = 0; index < bytes.length; index += index < 76 ? 1 : 97) {
      const answer = await postUpload(relay, at(index));
      expect([400, 401]).toContain(answer.status);
    }
    expect(await count()).toBe(before);
  });

  it("refuses what is truncated, extended, empty or too large", async () => {
    const bytes = upload();
    expect(await outcome(bytes.subarray(0, bytes.length - 1))).toEqual([400, "malformed", 0]);
    expect(await outcome(new Uint8Array([...bytes, 0]))).toEqual([400, "malformed", 0]);
    expect(await outcome(new Uint8Array(0))).toEqual([400, "malformed", 0]);
    expect(await outcome(new Uint8Array(maxUploadBytes + 1))).toEqual([413, "too-large", 0]);
  });

  it("refuses n = 0, n = 17 and a mailbox addressed twice", async () => {
    const [phone] = bob.devices;
    const options = { origin: relay.origin, nowMs };
    expect(await outcome(uploadTo(bob, [], options))).toEqual([400, "malformed", 0]);
    const many = Array.from({ length: 17 }, () => newDevice().mailbox);
    expect(await outcome(uploadTo(bob, many, options))).toEqual([400, "malformed", 0]);
    expect(await outcome(uploadTo(bob, [phone!.mailbox, phone!.mailbox], options))).toEqual([
      400,
      "malformed",
      0,
    ]);
  });

  it("refuses a wrong token, another relay's token, and one bound to other bytes", async () => {
    expect(await outcome(upload({ key: systemRng(32) }))).toEqual([401, "token-invalid", 0]);
    expect(await outcome(upload({ origin: "https://other.example" }))).toEqual([
      401,
      "token-invalid",
      0,
    ]);
    expect(await outcome(upload({ keyKind: keyKind.invite }))).toEqual([401, "token-invalid", 0]);
    const [first, second] = [upload(), upload()];
    const spliced = second.slice();
    spliced.set(first.subarray(44, 76), 44);
    expect(await outcome(spliced)).toEqual([401, "token-invalid", 0]);
  });

  it("takes a token until it expires, and none that expires over an hour from now", async () => {
    expect(await outcome(upload({ tokenExpiryMs: nowMs }))).toEqual([401, "token-expired", 0]);
    expect(await outcome(upload({ tokenExpiryMs: nowMs + maxTokenLifetimeMs + 1 }))).toEqual([
      401,
      "token-invalid",
      0,
    ]);
    for (const tokenExpiryMs of [nowMs + 1, nowMs + maxTokenLifetimeMs]) {
      expect((await postUpload(relay, upload({ tokenExpiryMs }))).status).toBe(202);
    }
  });

  it("answers for an unknown account exactly as for a wrong token", async () => {
    const stranger = { accountMailbox: systemRng(16), accessKey: systemRng(32) };
    const options = { origin: relay.origin, nowMs };
    const unknown = await postUpload(relay, uploadTo(stranger, [systemRng(16)], options));
    const wrong = await postUpload(relay, upload({ key: systemRng(32) }));
    expect(unknown).toEqual(wrong);
    const zeroKey = { ...stranger, accessKey: new Uint8Array(32) };
    expect(await outcome(uploadTo(zeroKey, [systemRng(16)], options))).toEqual([
      401,
      "token-invalid",
      0,
    ]);
    expect(
      await outcome(uploadTo(zeroKey, [systemRng(16)], { ...options, keyKind: keyKind.invite })),
    ).toEqual([401, "token-invalid", 0]);
    expect(await outcome(upload({ key: new Uint8Array(32), keyKind: keyKind.invite }))).toEqual([
      401,
      "token-invalid",
      0,
    ]);
  });

  it("takes slot days of today and one to each side", async () => {
    const today = dayOf(nowMs);
    for (const [day, status] of [
      [today - 2, 409],
      [today - 1, 202],
      [today + 1, 202],
      [today + 2, 409],
    ] as const) {
      const slot = makeSlot(day, systemRng(14));
      const expected = status === 202 ? [202, undefined, 1] : [409, "clock-skew", 0];
      expect(await outcome(upload({ slot }))).toEqual(expected);
    }
  });

  it("names mailboxes that are not of the account, and stores nothing of that upload", async () => {
    const eve = await registerAccount(relay, nowMs);
    const foreign = eve.devices[0]!;
    const before = await count();
    const answer = await postUpload(
      relay,
      uploadTo(bob, [bob.devices[0]!.mailbox, foreign.mailbox], { origin: relay.origin, nowMs }),
    );
    expect(answer).toMatchObject({
      status: 409,
      body: { error: "device-list-mismatch", mailboxes: [foreign.box] },
    });
    expect(await count()).toBe(before);
  });

  it("R6: stores for a device that is away or dying, without looking at any socket", async () => {
    const answer = await postUpload(relay, upload({ bucket: 4 }));
    expect(answer.body.results).toEqual([{ mailbox: bob.devices[0]!.box, state: "stored" }]);
  });

  it("refuses other content types and methods in the one form of refusals", async () => {
    const url = `${relay.url}/v1/envelopes`;
    const text = await fetch(url, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "x",
    });
    expect(await answerOf(text)).toMatchObject({ status: 415, body: { error: "malformed" } });
    const json = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await answerOf(json)).toMatchObject({ status: 415, body: { error: "malformed" } });
    expect(await answerOf(await fetch(url))).toMatchObject({
      status: 404,
      body: { error: "not-found", time: String(nowMs) },
    });
  });

  it("makes the partition of a day that comes before the hourly run", async () => {
    const later = createManualClock(nowMs + 20 * dayMs);
    await using second = await startRelay({ databaseUrl: db.url, clock: later });
    later.jump(nowMs + 25 * dayMs);
    const bytes = uploadTo(bob, [bob.devices[0]!.mailbox], {
      origin: second.origin,
      nowMs: later.nowMs(),
    });
    expect((await postUpload(second, bytes)).status).toBe(202);
  });
});

describe("limits", () => {
  it("counts strangers by address first, so that they cannot spend a mailbox's budget", async () => {
    await using db = await openTestDatabase();
    const clock = createManualClock();
    await using relay = await startRelay({
      databaseUrl: db.url,
      clock,
      config: { addressRequestsPerMinute: 1_000, mailboxUploadsPerMinute: 2 },
    });
    const nowMs = clock.nowMs();
    const bob = await registerAccount(relay, nowMs);
    const upload = (key?: Uint8Array): Uint8Array =>
      uploadTo(bob, [bob.devices[0]!.mailbox], {
        origin: relay.origin,
        nowMs,
        ...(key === undefined ? {} : { key }),
      });
    for (let i = 0; i < 5; i++) await postUpload(relay, upload(systemRng(32)));
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await postUpload(relay, upload())).status);
    expect(statuses).toEqual([202, 202, 429]);
    const limited = await postUpload(relay, upload());
    expect(limited.body).toMatchObject({ error: "rate-limited", retry_after_ms: 30_000 });
    // A wrong token learns nothing of the mailbox's limit.
    expect((await postUpload(relay, upload(systemRng(32)))).body.error).toBe("token-invalid");
    clock.jump(nowMs + 30_000);
    expect((await postUpload(relay, upload())).status).toBe(202);
  });

  it("limits an address, format errors excepted", async () => {
    await using db = await openTestDatabase();
    const clock = createManualClock();
    await using relay = await startRelay({
      databaseUrl: db.url,
      clock,
      config: { addressRequestsPerMinute: 2 },
    });
    const nowMs = clock.nowMs();
    const bob = await registerAccount(relay, nowMs);
    const upload = uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs });
    for (let i = 0; i < 4; i++) {
      expect((await postUpload(relay, upload.subarray(1))).status).toBe(400);
    }
    expect((await postUpload(relay, upload)).status).toBe(202);
    expect((await postUpload(relay, upload)).body.error).toBe("rate-limited");
  });
});
