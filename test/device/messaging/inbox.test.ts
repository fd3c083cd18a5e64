import { afterEach, describe, expect, it } from "vitest";
import { encodeEcho } from "../../../src/device/crypto/payload.ts";
import { getContact } from "../../../src/device/store/contacts.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { idFromText, idText } from "../../../src/shared/ids.ts";
import { aikOf } from "../../support/device-world.ts";
import { at, createPerson, testNowMs } from "../../support/people.ts";
import {
  bob,
  carol,
  closeWorlds,
  copies,
  fromSibling,
  id,
  item,
  me,
  newWorld,
  reasons,
  receipt,
  rng,
  sentTo,
  texts,
  views,
} from "./inbox-world.ts";

afterEach(closeWorlds);

describe("taking in", () => {
  it("shows a message, acknowledges it after the commit, and answers with a receipt", async () => {
    const world = newWorld(bob);
    await world.deliver(item(bob, { content: utf8("hello") }));
    expect(texts(world, bob)).toEqual(["hello"]);
    expect(world.acknowledged).toEqual([1n]);
    // One receipt, to both of Bob's devices, in the size of chat.
    expect(world.uploads.map(({ upload }) => [upload.entries.length, upload.bucket])).toEqual([
      [2, 0],
    ]);
    expect(at(world.uploads, 0).upload.accountMailbox).toEqual(bob.accountMailbox);
  });

  it("R1, R2, R3: acknowledges nothing while the disk is full, and everything once it is not", async () => {
    const world = newWorld(bob);
    const { store } = world.parts;
    const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    const write = store.write;
    Object.assign(store, {
      write: () => {
        throw full;
      },
    });
    await world.deliver(item(bob));
    expect(world.acknowledged).toEqual([]);
    expect(world.notices.join()).toContain("disk is full");
    Object.assign(store, { write });
    expect(texts(world)).toEqual([]);
    await world.clock.advance(10_000);
    await world.turn();
    expect(texts(world, bob)).toEqual(["hello"]);
    expect(world.acknowledged).toEqual([1n]);
  });

  it("R20, R21: a duplicate is acknowledged, shown once, and its receipt is sent again", async () => {
    const world = newWorld(bob);
    await world.deliver(item(bob));
    expect(world.uploads).toHaveLength(1);
    // The same message, sealed anew, as a sender does that never got the receipt.
    await world.deliver(item(bob));
    expect(texts(world, bob)).toEqual(["hello"]);
    expect(world.acknowledged).toEqual([1n, 2n]);
    expect(world.uploads).toHaveLength(2);
  });

  it("R13, R14: two senders may use one message id; neither overwrites the other", async () => {
    const world = newWorld(bob, carol);
    await world.deliver(
      item(bob, { messageId: id(7), content: utf8("Bob's") }),
      item(carol, { messageId: id(7), content: utf8("Carol's") }),
      item(carol, { messageId: id(7), content: utf8("Carol's again, other") }),
    );
    expect(texts(world, bob)).toEqual(["Bob's"]);
    expect(texts(world, carol)).toEqual(["Carol's"]);
  });

  it("R14: a sender that answers with the id of my own message overwrites nothing", async () => {
    const world = newWorld(bob);
    const messageId = await sentTo(world, bob);
    await world.deliver(item(bob, { messageId: idFromText(messageId), content: utf8("yours") }));
    expect(texts(world, bob)).toEqual(["mine", "yours"]);
  });

  it("R21: 1,000 unopenable items are set aside and acknowledged, and the 1,001st is shown", async () => {
    const world = newWorld(bob);
    const good = item(bob);
    const broken = Array.from({ length: 1_000 }, (_, i) => {
      const bytes = good.slice();
      bytes[bytes.length - 1 - (i % 900)] = (bytes[bytes.length - 1 - (i % 900)] ?? 0) ^ 1;
      bytes[1_000 + (i >> 3)] = (bytes[1_000 + (i >> 3)] ?? 0) ^ (1 << (i & 7));
      return bytes;
    });
    await world.deliver(...broken, good);
    expect(world.acknowledged).toHaveLength(1_001);
    expect(texts(world, bob)).toEqual(["hello"]);
    expect(reasons(world).length).toBe(1_000);
    expect(new Set(reasons(world))).toEqual(new Set(["header"]));
    // No reason leaves the device: one receipt for the one message, nothing else.
    expect(world.uploads).toHaveLength(1);
  });

  it("delivers the re-seal of a message whose first item could not be opened", async () => {
    const world = newWorld(bob);
    const broken = item(bob);
    broken[40] = (broken[40] ?? 0) ^ 1;
    await world.deliver(broken);
    expect(texts(world)).toEqual([]);
    expect(world.acknowledged).toEqual([1n]);
    await world.deliver(item(bob));
    expect(texts(world, bob)).toEqual(["hello"]);
  });

  it("R47, R48: no clock decides what opens; what is off is clamped and marked", async () => {
    const world = newWorld(bob);
    const arrivedMs = world.clock.nowMs();
    await world.deliver(
      item(bob, { messageId: id(1), sentAtMs: BigInt(arrivedMs - 29 * dayMs) }),
      item(bob, { messageId: id(2), sentAtMs: BigInt(arrivedMs + 5 * 60_000 + 1) }),
      item(bob, { messageId: id(3), sentAtMs: 2n ** 64n - 1n }),
      item(bob, { messageId: id(4), sentAtMs: 0n }),
    );
    expect(views(world, bob).map((view) => [view.sentMs, view.clockOff])).toEqual([
      [arrivedMs - 29 * dayMs, false],
      [arrivedMs, true],
      [arrivedMs, true],
      [0, false],
    ]);
  });

  it("keeps the plaintext of a kind it does not know, confirms it, and shows it as such", async () => {
    const world = newWorld(bob);
    await world.deliver(item(bob, { typeTag: 77, content: id(9) }));
    expect(views(world, bob)).toMatchObject([{ kind: "opaque", text: "" }]);
    expect(world.uploads).toHaveLength(1);
  });
});

describe("strangers", () => {
  it("wait as message requests, without a receipt", async () => {
    const world = newWorld();
    await world.deliver(item(bob, { content: utf8("hi, it is Bob") }));
    expect(world.parts.store.read((tx) => getContact(tx, aikOf(bob)))?.relation).toBe("request");
    expect(texts(world, bob)).toEqual(["hi, it is Bob"]);
    await world.deliver(item(bob, { content: utf8("hi, it is Bob") }));
    expect(world.acknowledged).toEqual([1n, 2n]);
    expect(world.uploads).toEqual([]);
  });

  it("beyond the fiftieth are set aside, and leave no trace but the journal", async () => {
    const world = newWorld();
    for (let i = 0; i < 50; i++) await world.deliver(item(createPerson(rng)));
    const late = createPerson(rng);
    await world.deliver(item(late));
    expect(reasons(world)).toEqual(["requests-full"]);
    expect(texts(world)).toHaveLength(50);
    expect(world.parts.store.read((tx) => getContact(tx, aikOf(late)))).toBeUndefined();
    expect(world.acknowledged).toHaveLength(51);
  });

  it("are heard only with a message: everything else is type-not-allowed", async () => {
    const world = newWorld();
    await world.deliver(
      item(bob, { typeTag: 1, content: id(1) }),
      item(bob, { typeTag: 4, content: encodeEcho(carol.aik.publicKey, utf8("forged")) }),
      item(bob, { typeTag: 8, content: new Uint8Array(200) }),
    );
    expect(reasons(world)).toEqual(["type-not-allowed", "type-not-allowed", "type-not-allowed"]);
    expect(texts(world)).toEqual([]);
  });
});

describe("receipts", () => {
  it("confirm the one device that is certified in them", async () => {
    const world = newWorld(bob);
    const messageId = await sentTo(world, bob);
    expect(copies(world, messageId)).toEqual(["accepted", "accepted"]);
    await world.deliver(receipt(bob, messageId));
    expect(copies(world, messageId).toSorted()).toEqual(["accepted", "confirmed"]);
  });

  it("count only for messages to that account: another peer's receipt changes nothing", async () => {
    const world = newWorld(bob, carol);
    const messageId = await sentTo(world, bob);
    await world.deliver(receipt(carol, messageId));
    expect(copies(world, messageId)).toEqual(["accepted", "accepted"]);
    expect(world.acknowledged).toHaveLength(1);
  });

  it("are not answered with receipts", async () => {
    const world = newWorld(bob);
    const messageId = await sentTo(world, bob);
    const before = world.uploads.length;
    await world.deliver(receipt(bob, messageId));
    expect(world.uploads).toHaveLength(before);
  });

  it("travel together, at most 32 ids in one", async () => {
    const world = newWorld(bob);
    await world.deliver(...Array.from({ length: 33 }, () => item(bob, { messageId: rng(16) })));
    expect(world.uploads).toHaveLength(2);
  });
});

describe("siblings", () => {
  it("D4: an echo lands in the conversation with the original's id, and is confirmed", async () => {
    const world = newWorld(bob);
    await world.deliver(
      fromSibling({
        typeTag: 4,
        messageId: id(5),
        content: encodeEcho(bob.aik.publicKey, utf8("from the laptop")),
      }),
    );
    expect(views(world, bob)).toMatchObject([
      { text: "from the laptop", fromMe: true, messageId: idText(id(5)) },
    ]);
    expect(at(world.uploads, 0).upload.accountMailbox).toEqual(me.accountMailbox);
  });

  it("discards its own copy of an echo by id, unanswered", async () => {
    const world = newWorld(bob);
    const messageId = await sentTo(world, bob);
    const echo = world.uploads.find(
      ({ upload }) => idText(upload.accountMailbox) === idText(me.accountMailbox),
    );
    expect(echo?.upload.entries).toHaveLength(2);
    const before = world.uploads.length;
    const mine = item(me, {
      typeTag: 4,
      messageId: idFromText(messageId),
      content: encodeEcho(bob.aik.publicKey, utf8("mine")),
    });
    await world.deliver(mine);
    expect(texts(world, bob)).toEqual(["mine"]);
    expect(world.uploads).toHaveLength(before);
    expect(world.acknowledged).toHaveLength(1);
  });

  it("refuses an echo from anybody else", async () => {
    const world = newWorld(bob);
    await world.deliver(
      item(bob, { typeTag: 4, content: encodeEcho(carol.aik.publicKey, utf8("forged")) }),
    );
    expect(reasons(world)).toEqual(["type-not-allowed"]);
    expect(texts(world)).toEqual([]);
    expect(testNowMs).toBe(world.clock.nowMs());
  });
});
