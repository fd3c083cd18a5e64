import { afterEach, describe, expect, it } from "vitest";
import { encodeReceipt } from "../../../src/device/crypto/payload.ts";
import { learnLists } from "../../../src/device/identity/lists.ts";
import { joinRooms } from "../../../src/device/parts.ts";
import { countOpenOutbox, getOutbox } from "../../../src/device/store/outbox.ts";
import { wakeRecipient } from "../../../src/device/store/outbox-due.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { idFromText, idText } from "../../../src/shared/ids.ts";
import {
  aikOf,
  type DeviceWorld,
  deviceWorld,
  know,
  mailboxes,
  pass,
  queue,
  receiptOf,
  send,
  uploadsFor,
  view,
} from "../../support/device-world.ts";
import {
  at,
  createDevice,
  createPerson,
  entryFor,
  nextList,
  requestOf,
  sealItem,
  type TestPerson,
} from "../../support/people.ts";
import { answerWith, refuses, silent, storesAll } from "../../support/played-relay.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("pump");
const alone = createPerson(rng);
const me = createPerson(rng, 3);
const bob = createPerson(rng, 2);
const minuteMs = 60_000;
let worlds: DeviceWorld[] = [];

afterEach(() => {
  for (const world of worlds) world.close();
  worlds = [];
});

function newWorld(owner: TestPerson, ...contacts: readonly TestPerson[]): DeviceWorld {
  const world = deviceWorld(owner);
  worlds.push(world);
  for (const person of contacts) know(world, person);
  return world;
}

describe("posting", () => {
  it("addresses every device of the contact once, and nobody else", async () => {
    const world = newWorld(alone, bob);
    const messageId = await send(world, bob);
    expect(world.uploads).toHaveLength(1);
    expect(mailboxes(at(uploadsFor(world, bob), 0))).toEqual(
      bob.devices.map((device) => idText(device.mailbox)),
    );
    expect(view(world, messageId)?.state).toBe("accepted");
  });

  it("repeats the identical bytes when no answer came", async () => {
    const world = newWorld(alone, bob);
    world.answer = () => silent;
    const messageId = await send(world, bob);
    await pass(world, 10 * minuteMs, 10_000);
    expect(world.uploads.length).toBeGreaterThan(3);
    world.answer = storesAll;
    await pass(world, 6 * minuteMs);
    for (const { bytes } of world.uploads) expect(bytes).toEqual(at(world.uploads, 0).bytes);
    expect(view(world, messageId)?.state).toBe("accepted");
  });

  it("repeats the identical bytes after a crash between sealing and posting", async () => {
    const world = newWorld(alone, bob);
    world.answer = () => silent;
    await send(world, bob);
    // The program dies here; another one opens the same store.
    const { store, transport, clock } = world.parts;
    const restarted = joinRooms({ ...world.parts, store, transport, clock, rng: seededRng("2") });
    world.answer = storesAll;
    await world.parts.pump.close();
    restarted.pump.wake();
    await pass(world, minuteMs);
    expect(world.uploads.length).toBeGreaterThan(1);
    expect(at(world.uploads, 1).bytes).toEqual(at(world.uploads, 0).bytes);
  });

  it("seals anew, under a new slot and the same id, when the relay asks for it", async () => {
    for (const code of ["token-expired", "clock-skew", "device-list-mismatch"] as const) {
      const world = newWorld(alone, bob);
      world.answer = () => refuses(code);
      const messageId = await send(world, bob);
      world.answer = storesAll;
      await pass(world, minuteMs);
      expect(world.uploads).toHaveLength(2);
      const slots = world.uploads.map(({ upload }) => idText(upload.slot));
      expect(new Set(slots).size).toBe(2);
      expect(view(world, messageId)?.state).toBe("accepted");
      // A mismatch is answered with a fresh bundle first.
      expect(world.bundleRequests).toHaveLength(code === "device-list-mismatch" ? 1 : 0);
    }
  });

  it("keeps the order of a conversation: nothing overtakes a message that waits", async () => {
    const world = newWorld(alone, bob);
    world.answer = () => silent;
    queue(world, bob, "one");
    queue(world, bob, "two");
    await world.turn();
    await pass(world, minuteMs, 10_000);
    expect(new Set(world.uploads.map(({ upload }) => idText(upload.slot))).size).toBe(1);
    world.answer = storesAll;
    await pass(world, 6 * minuteMs);
    expect(new Set(world.uploads.map(({ upload }) => idText(upload.slot))).size).toBe(2);
    expect(world.parts.store.read(countOpenOutbox)).toBe(2);
  });

  it("one contact whose relay is silent holds up no other", async () => {
    const carol = createPerson(rng);
    const world = newWorld(alone, bob, carol);
    world.answer = (upload) =>
      idText(upload.accountMailbox) === idText(bob.accountMailbox) ? silent : storesAll(upload);
    queue(world, bob);
    const toCarol = queue(world, carol);
    await world.turn();
    expect(view(world, toCarol)?.state).toBe("accepted");
  });

  it("never seals from a bundle of more than a day, nor to a prekey that is too old", async () => {
    const world = newWorld(alone, bob);
    await pass(world, dayMs);
    await send(world, bob);
    expect(world.bundleRequests).toEqual([idText(bob.accountMailbox)]);
    expect(world.uploads).toHaveLength(1);
    await pass(world, 45 * dayMs);
    const late = await send(world, bob);
    expect(world.uploads.length).toBe(1);
    expect(view(world, late)?.copies.map((copy) => copy.state)).toEqual(["queued", "queued"]);
  });
});

describe("one copy each", () => {
  it("R15: full for one device: only that device is sealed to again", async () => {
    const world = newWorld(alone, bob);
    const full = idText(at(bob.devices, 1).mailbox);
    world.answer = (upload) =>
      answerWith(upload, (mailbox) => (mailbox === full ? "full" : "stored"));
    const messageId = await send(world, bob);
    expect(
      view(world, messageId)
        ?.copies.map((copy) => copy.state)
        .toSorted(),
    ).toEqual(["accepted", "queued"]);
    world.answer = storesAll;
    await pass(world, 2 * minuteMs);
    expect(uploadsFor(world, bob).slice(1).map(mailboxes)).toEqual([[full]]);
    expect(view(world, messageId)?.copies.map((copy) => copy.state)).toEqual([
      "accepted",
      "accepted",
    ]);
  });

  it("R30: the echo fails while the message was stored: only the echo is posted again", async () => {
    const world = newWorld(me, bob);
    world.answer = (upload) =>
      idText(upload.accountMailbox) === idText(me.accountMailbox) ? silent : storesAll(upload);
    await send(world, bob);
    world.answer = storesAll;
    await pass(world, minuteMs);
    expect(uploadsFor(world, bob)).toHaveLength(1);
    expect(uploadsFor(world, me).length).toBeGreaterThan(1);
    expect(new Set(uploadsFor(world, me).map((upload) => idText(upload.slot))).size).toBe(1);
  });

  it("R31: each own device has a copy of its own; one that is away keeps only its own waiting", async () => {
    const world = newWorld(me, bob);
    const messageId = await send(world, bob);
    // Every own device, this one included, so that the echo does not name its author.
    expect(mailboxes(at(uploadsFor(world, me), 0))).toEqual(
      me.devices.map((device) => idText(device.mailbox)),
    );
    const laptop = at(me.devices, 1);
    const request = requestOf(me, me, {
      typeTag: 1,
      messageId: rng(16),
      content: encodeReceipt([idFromText(messageId)]),
    });
    const sender = { dskPrivateKey: laptop.dsk.privateKey, certificate: laptop.certificate.record };
    await world.deliver(sealItem({ ...request, sender }, rng));
    const echo = world.parts.store.read((tx) => getOutbox(tx, messageId, aikOf(me)));
    expect(echo?.state).toBe("open");
  });

  it("R32: with the last sibling removed, the echo that waits is no upload at all", async () => {
    const world = newWorld(me, bob);
    world.answer = () => silent;
    const messageId = queue(world, bob);
    // Both siblings are revoked before anything was posted.
    const entries = me.list.entries.map((entry, index) =>
      index === 0 ? entry : { ...entry, state: deviceState.revoked },
    );
    world.parts.store.write((tx) => learnLists(tx, aikOf(me), [nextList(me, entries)]));
    world.answer = storesAll;
    await world.turn();
    expect(uploadsFor(world, me)).toEqual([]);
    const echo = world.parts.store.read((tx) => getOutbox(tx, messageId, aikOf(me)));
    expect(echo?.state).toBe("done");
    // And a message sent now makes no echo.
    const before = world.parts.store.read(countOpenOutbox);
    queue(world, bob);
    expect(world.parts.store.read(countOpenOutbox)).toBe(before + 1);
  });

  it("a device that the relay knows and we did not gets a sealing of its own", async () => {
    const world = newWorld(alone, bob);
    const added = createDevice(rng, bob.aik);
    const list = nextList(bob, [...bob.list.entries, entryFor(added, false)]);
    world.served.set(idText(bob.accountMailbox), {
      ...bob,
      devices: [...bob.devices, added],
      list,
    });
    const mailbox = idText(added.mailbox);
    world.answer = (upload) =>
      answerWith(upload, () => "stored", mailboxes(upload).includes(mailbox) ? [] : [mailbox]);
    const messageId = await send(world, bob);
    expect(uploadsFor(world, bob).slice(1).map(mailboxes)).toEqual([[mailbox]]);
    expect(view(world, messageId)?.copies).toHaveLength(3);
  });

  it("a device that was removed is dropped, and the message still ends", async () => {
    const world = newWorld(alone, bob);
    const messageId = await send(world, bob);
    const entries = bob.list.entries.map((entry, index) =>
      index === 1 ? { ...entry, state: deviceState.revoked } : entry,
    );
    world.parts.store.write((tx) => {
      learnLists(tx, aikOf(bob), [nextList(bob, entries)]);
      wakeRecipient(tx, aikOf(bob), world.clock.nowMs());
    });
    await world.turn();
    await world.deliver(receiptOf(bob, alone, messageId));
    expect(view(world, messageId)).toMatchObject({ state: "confirmed" });
    expect(
      view(world, messageId)
        ?.copies.map((copy) => copy.state)
        .toSorted(),
    ).toEqual(["confirmed", "dropped"]);
  });
});
