import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import { type DeviceList, deviceState } from "../../../src/shared/crypto/device-list.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import { maxPrekeyLeadMs } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import {
  bundleRequestOf,
  entryFor,
  newAccount,
  newDevice,
  nextList,
  prekeyFor,
  type RelayAccount,
  uploadTo,
} from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import {
  connectDevice,
  postJson,
  postUpload,
  registerAccount,
  startRelay,
  type TestConnection,
} from "../../support/relay.ts";

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

async function connected(): Promise<{ bob: RelayAccount; connection: TestConnection }> {
  const bob = await registerAccount(relay, nowMs);
  return { bob, connection: await connectDevice(relay, bob.devices[0]!) };
}

function update(connection: TestConnection, known: DeviceList, next: DeviceList) {
  return connection.request({
    type: "update-device-list",
    expected_version: known.version,
    expected_hash: toBase64Url(known.hash),
    device_list: toBase64Url(next.record),
  });
}

describe("publish-prekey", () => {
  it("publishes what this device signed, and nothing that goes back or leads too far", async () => {
    const { bob, connection } = await connected();
    const publish = (ms: number, device = bob.devices[0]!, account = bob) =>
      connection.request({
        type: "publish-prekey",
        prekey: toBase64Url(prekeyFor(account, device, ms).record),
      });
    expect((await publish(nowMs + maxPrekeyLeadMs + 1)).error?.code).toBe("clock-skew");
    expect((await publish(nowMs + maxPrekeyLeadMs)).ok).toEqual({});
    expect((await publish(nowMs + maxPrekeyLeadMs)).error?.code).toBe("conflict");
    expect((await publish(nowMs)).error?.code).toBe("conflict");
    expect((await publish(nowMs + maxPrekeyLeadMs, newDevice())).error?.code).toBe("malformed");
    const foreign = await publish(nowMs + maxPrekeyLeadMs, bob.devices[0], newAccount(nowMs));
    expect(foreign.error?.code).toBe("malformed");
    await connection.cut();
  });
});

describe("update-device-list", () => {
  it("adds a device, which may connect, and is unaddressed once it has a prekey", async () => {
    const { bob, connection } = await connected();
    const laptop = newDevice();
    const next = nextList(bob, [...bob.list.entries, entryFor(laptop, deviceState.active, nowMs)]);
    expect((await update(connection, bob.list, next)).ok).toEqual({ version: 2 });
    // Again: the reply to a first attempt may have been lost.
    expect((await update(connection, bob.list, next)).ok).toEqual({ version: 2 });
    const second = await connectDevice(relay, laptop);
    const upload = () =>
      postUpload(relay, uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs }));
    expect((await upload()).body.unaddressed).toEqual([]);
    const prekey = toBase64Url(prekeyFor({ ...bob, list: next }, laptop, nowMs).record);
    expect((await second.request({ type: "publish-prekey", prekey })).ok).toEqual({});
    expect((await upload()).body.unaddressed).toEqual([laptop.box]);
    await second.cut();
    await connection.cut();
  });

  it("refuses rollback, fork, gap, broken chain, foreign and malformed lists, changing nothing", async () => {
    const { bob, connection } = await connected();
    const entries = bob.list.entries;
    const second = nextList(bob, entries);
    expect((await update(connection, bob.list, second)).ok).toEqual({ version: 2 });
    const after = { ...bob, list: second };
    const eve = newAccount(nowMs);
    const revokedAdmin = { ...entries[0]!, dsk: systemRng(32) };
    const cases: readonly (readonly [DeviceList, string])[] = [
      [bob.list, "conflict"],
      [nextList(bob, [...entries, entryFor(newDevice(), deviceState.active, nowMs)]), "conflict"],
      [nextList(after, entries, { version: 4 }), "conflict"],
      [nextList(after, entries, { prevHash: systemRng(32) }), "conflict"],
      [nextList(eve, eve.list.entries, { version: 3, prevHash: second.hash }), "unauthorised"],
      [nextList(after, [revokedAdmin]), "malformed"],
    ];
    for (const [list, code] of cases) {
      expect((await update(connection, second, list)).error?.code).toBe(code);
    }
    const third = nextList(after, entries);
    expect((await update(connection, bob.list, third)).error?.code).toBe("conflict");
    const tampered = {
      ...third,
      record: third.record.map((byte, at) => (at === 90 ? byte ^ 1 : byte)),
    };
    expect((await update(connection, second, tampered)).error?.code).toBe("malformed");
    const bundle = await postJson(
      relay,
      "/v1/bundles",
      bundleRequestOf(bob, { origin: relay.origin, nowMs }),
    );
    expect(bundle.body["device_lists"]).toEqual(
      [bob.list, second].map((list) => toBase64Url(list.record)),
    );
    await connection.cut();
  });

  it("R34: ends a revoked device's connection, and late sends to it are device-list-mismatch", async () => {
    const { bob, connection } = await connected();
    const laptop = newDevice();
    const entry = entryFor(laptop, deviceState.active, nowMs);
    const second = nextList(bob, [...bob.list.entries, entry]);
    await update(connection, bob.list, second);
    const removed = await connectDevice(relay, laptop);
    const third = nextList({ ...bob, list: second }, [
      ...bob.list.entries,
      { ...entry, state: deviceState.revoked },
    ]);
    expect((await update(connection, second, third)).ok).toEqual({ version: 3 });
    expect(await removed.frame("refused")).toMatchObject({ error: "unauthorised" });
    expect(await removed.end()).toBe(4403);
    const late = await postUpload(
      relay,
      uploadTo(bob, [bob.devices[0]!.mailbox, laptop.mailbox], { origin: relay.origin, nowMs }),
    );
    expect(late).toMatchObject({
      status: 409,
      body: { error: "device-list-mismatch", mailboxes: [laptop.box] },
    });
    await expect(connectDevice(relay, laptop)).rejects.toThrow(/unauthorised/);
    await connection.cut();
  });
});

describe("invite-key", () => {
  it("lets a guest in until it is closed", async () => {
    const { bob, connection } = await connected();
    const key = systemRng(32);
    const set = (revoked: boolean, expires = nowMs + 60_000) =>
      connection.request({
        type: "invite-key",
        key: toBase64Url(key),
        expires: String(expires),
        revoked,
      });
    const options = { origin: relay.origin, nowMs, key, keyKind: keyKind.invite };
    const upload = () => postUpload(relay, uploadTo(bob, [bob.devices[0]!.mailbox], options));
    const bundle = () => postJson(relay, "/v1/bundles", bundleRequestOf(bob, options));
    expect((await upload()).body.error).toBe("token-invalid");
    expect((await set(false, nowMs)).error?.code).toBe("malformed");
    expect((await set(false)).ok).toEqual({});
    expect((await bundle()).status).toBe(200);
    const statuses = [];
    for (let sent = 0; sent < 21; sent++) {
      statuses.push((await upload()).body.results?.[0]?.state);
    }
    expect(statuses.filter((state) => state === "stored")).toHaveLength(20);
    expect(statuses.at(-1)).toBe("full");
    expect((await set(true)).ok).toEqual({});
    expect((await upload()).body.error).toBe("token-invalid");
    expect((await bundle()).body.error).toBe("token-invalid");
    expect((await set(false)).error?.code).toBe("conflict");
    await connection.cut();
  });
});

describe("mailbox-status", () => {
  it("says what waits and what was refused", async () => {
    const { bob, connection } = await connected();
    await db.sql`update mailbox set queued_items = 500 where mailbox = ${Buffer.from(bob.devices[0]!.mailbox).toString("hex")}`;
    const upload = uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs });
    expect((await postUpload(relay, upload)).body.results?.[0]?.state).toBe("full");
    expect((await connection.request({ type: "mailbox-status" })).ok).toMatchObject({
      queued: 500,
      refused: { count: 1, since: String(nowMs) },
    });
    await connection.cut();
    const again = await connectDevice(relay, bob.devices[0]!);
    expect(again.ready.refused).toEqual({ count: 1, since: String(nowMs) });
    await again.cut();
  });
});
