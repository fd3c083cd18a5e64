import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { maxQueuedLargeBytes } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { bodyBytes, parseItem } from "../../../src/shared/wire/envelope.ts";
import type { Delivery } from "../../../src/shared/wire/frames.ts";
import { itemBytes } from "../../../src/relay/delivery/window.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import {
  entryFor,
  newDevice,
  nextList,
  type RelayAccount,
  uploadTo,
} from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type TestDatabase, testStores } from "../../support/postgres.ts";
import {
  connectDevice,
  postUpload,
  registerAccount,
  startRelay,
  type TestConnection,
} from "../../support/relay.ts";

/** The next deliveries of a connection. */
async function take(connection: TestConnection, count: number): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  while (taken.length < count) taken.push(await connection.delivery());
  return taken;
}

/** The ends of bodies, as text and in one order. */
function bodies(all: readonly Uint8Array[]): string[] {
  return all.map((bytes) => toBase64Url(bytes.subarray(bytes.length - 48))).toSorted();
}

describe.each(testStores())("delivery on $name", ({ open }) => {
  const clock = createManualClock();
  const nowMs = clock.nowMs();
  let db: TestDatabase;
  let relay: Relay;
  beforeAll(async () => {
    db = await open();
    relay = await startRelay({ databaseUrl: db.url, clock });
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  const send = async (
    bob: RelayAccount,
    change: Partial<Parameters<typeof uploadTo>[2]> = {},
    to = bob.devices.map((device) => device.mailbox),
  ): Promise<Uint8Array> => {
    const upload = uploadTo(bob, to, { origin: relay.origin, nowMs, ...change });
    const answer = await postUpload(relay, upload);
    expect(answer.status).toBe(202);
    return upload;
  };
  it("R1: what was accepted survives a stop without warning, unacknowledged items come again", async () => {
    const first = await startRelay({ databaseUrl: db.url, clock });
    const bob = await registerAccount(first, nowMs);
    const upload = uploadTo(bob, [bob.devices[0]!.mailbox], { origin: first.origin, nowMs });
    await postUpload(first, upload);
    const before = await connectDevice(first, bob.devices[0]!);
    const { seq, item } = await before.delivery();
    await first.close();
    await using second = await startRelay({ databaseUrl: db.url, clock });
    const after = await connectDevice(second, bob.devices[0]!);
    const again = await after.delivery();
    expect([again.seq, again.redelivered]).toEqual([seq, true]);
    expect(Buffer.from(again.item).equals(item)).toBe(true);
    await after.cut();
  });

  it("R23, R27: comes again with its own number, in order, byte for byte, and marked", async () => {
    const bob = await registerAccount(relay, nowMs);
    const uploads = [];
    for (let i = 0; i < 12; i++) uploads.push(await send(bob));
    const first = await connectDevice(relay, bob.devices[0]!);
    expect(first.ready.queued).toBe(12);
    const before = await take(first, 12);
    expect(before.map((delivery) => Number(delivery.seq))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    expect(before.some((delivery) => delivery.redelivered)).toBe(false);
    first.ack(3, 7);
    await first.request({ type: "mailbox-status" });
    await first.cut();
    const second = await connectDevice(relay, bob.devices[0]!);
    const after = await take(second, second.ready.queued);
    const kept = before.filter(({ seq }) => seq !== 3n && seq !== 7n);
    expect(after).toEqual(kept.map((delivery) => ({ ...delivery, redelivered: true })));
    const items = before.map((delivery) => parseItem(delivery.item));
    for (const [index, item] of items.entries()) {
      const sent = uploads[index]!;
      expect(
        item.ok && Buffer.from(item.value.body).equals(sent.subarray(sent.length - bodyBytes(0))),
      ).toBe(true);
    }
    second.ack(...after.map(({ seq }) => seq));
    expect(await second.frame("drained")).toEqual({ type: "drained", through: "12" });
    await second.cut();
  });

  it("ready comes before anything binary, drained after all of it", async () => {
    const bob = await registerAccount(relay, nowMs);
    for (let i = 0; i < 5; i++) await send(bob);
    const connection = await connectDevice(relay, bob.devices[0]!);
    for (const { seq } of await take(connection, 5)) connection.ack(seq);
    await connection.frame("drained");
    const kinds = connection.log.map((entry) => ("type" in entry ? entry.type : "delivery"));
    expect(kinds).toEqual(["challenge", "ready", ...Array<string>(5).fill("delivery"), "drained"]);
    await connection.cut();
  });

  it("R7, R48: delivers whatever was accepted, however old, without looking at time", async () => {
    const bob = await registerAccount(relay, nowMs);
    await send(bob);
    const later = createManualClock(nowMs + 29 * 86_400_000);
    await using second = await startRelay({
      databaseUrl: db.url,
      clock: later,
      config: { publicUrl: relay.origin },
    });
    const connection = await connectDevice(second, bob.devices[0]!);
    expect((await connection.delivery()).seq).toBe(1n);
    await connection.cut();
  });

  it("live: an accepted envelope is delivered to a connected device, each once", async () => {
    const bob = await registerAccount(relay, nowMs);
    const connection = await connectDevice(relay, bob.devices[0]!);
    await connection.frame("drained");
    const sent = await Promise.all(Array.from({ length: 40 }, () => send(bob)));
    const got = await take(connection, 40);
    expect(got.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(bodies(got.map(({ item }) => item))).toEqual(bodies(sent));
    await connection.request({ type: "mailbox-status" });
    expect(connection.deliveries).toHaveLength(40);
    await connection.cut();
  });

  it("R4: an acknowledgement of what this connection was not sent does nothing", async () => {
    const bob = await registerAccount(relay, nowMs);
    const connection = await connectDevice(relay, bob.devices[0]!);
    await connection.frame("drained");
    connection.ack(1, 2, 3);
    await send(bob);
    expect((await connection.delivery()).seq).toBe(1n);
    expect((await connection.request({ type: "mailbox-status" })).ok).toMatchObject({ queued: 1 });
    await connection.cut();
  });

  it("R5: every copy of an upload to several devices arrives, each with its own header", async () => {
    const bob = await registerAccount(relay, nowMs);
    const laptop = newDevice();
    const admin = await connectDevice(relay, bob.devices[0]!);
    const next = nextList(bob, [...bob.list.entries, entryFor(laptop, deviceState.active, nowMs)]);
    await admin.request({
      type: "update-device-list",
      expected_version: 1,
      expected_hash: toBase64Url(bob.list.hash),
      device_list: toBase64Url(next.record),
    });
    const second = await connectDevice(relay, laptop);
    const upload = await send(bob, {}, [bob.devices[0]!.mailbox, laptop.mailbox]);
    const body = upload.subarray(upload.length - bodyBytes(0));
    for (const [index, connection] of [admin, second].entries()) {
      const item = parseItem((await connection.delivery()).item);
      const at = 76 + index * (16 + 1_176) + 16;
      expect(
        item.ok && Buffer.from(item.value.header).equals(upload.subarray(at, at + 1_176)),
      ).toBe(true);
      expect(item.ok && Buffer.from(item.value.body).equals(body)).toBe(true);
      connection.ack(1);
      await connection.request({ type: "mailbox-status" });
      await connection.cut();
    }
  });

  it("R51: large items are refused at half the mailbox, small ones still pass, in both directions", async () => {
    const bob = await registerAccount(relay, nowMs);
    const upload = (bucket: number) =>
      postUpload(
        relay,
        uploadTo(bob, [bob.devices[0]!.mailbox], { origin: relay.origin, nowMs, bucket }),
      );
    const states: (string | undefined)[] = [];
    const fits = Math.floor(maxQueuedLargeBytes / itemBytes(4));
    for (let i = 0; i <= fits; i++) states.push((await upload(4)).body.results?.[0]?.state);
    expect(states.lastIndexOf("stored")).toBe(fits - 1);
    expect(states.at(-1)).toBe("full");
    expect((await upload(0)).body.results?.[0]?.state).toBe("stored");
    const connection = await connectDevice(relay, bob.devices[0]!);
    expect(connection.ready.refused.count).toBe(1);
    for (let i = 0; i <= fits; i++) connection.ack((await connection.delivery()).seq);
    await connection.frame("drained");
    expect(connection.deliveries.at(-1)?.item.length).toBe(2 + itemBytes(0));
    await connection.cut();
  });

  it("R36: a device that stops reading holds up nobody, and loses nothing", async () => {
    const bob = await registerAccount(relay, nowMs);
    const eve = await registerAccount(relay, nowMs);
    const slow = await connectDevice(relay, bob.devices[0]!);
    slow.socket.pause();
    for (let i = 0; i < 12; i++) await send(bob, { bucket: 4 });
    const quick = await connectDevice(relay, eve.devices[0]!);
    await send(eve);
    quick.ack((await quick.delivery()).seq);
    await clock.advance(30_000);
    slow.socket.resume();
    expect(await slow.end()).toBe(1006);
    expect(slow.deliveries.length).toBeLessThanOrEqual(4);
    const again = await connectDevice(relay, bob.devices[0]!);
    expect(again.ready.queued).toBe(12);
    for (let i = 0; i < 12; i++) again.ack((await again.delivery()).seq);
    await again.frame("drained");
    await again.cut();
    await quick.cut();
  });

  it("R21: acknowledges are one form for all, and an acknowledged item never comes back", async () => {
    const bob = await registerAccount(relay, nowMs);
    const upload = await send(bob, { body: systemRng(bodyBytes(0)) });
    const first = await connectDevice(relay, bob.devices[0]!);
    first.ack((await first.delivery()).seq);
    await first.frame("drained");
    expect((await postUpload(relay, upload)).body.results?.[0]?.state).toBe("duplicate");
    await first.cut();
    const second = await connectDevice(relay, bob.devices[0]!);
    expect(second.ready.queued).toBe(0);
    await second.frame("drained");
    expect(second.deliveries).toEqual([]);
    await second.cut();
  });
});
