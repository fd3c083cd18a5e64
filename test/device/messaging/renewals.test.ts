/** A contact's identity key is renewed, as one device hears it. */
import { afterEach, describe, expect, it } from "vitest";

import { payloadTag } from "../../../src/device/crypto/type-rules.ts";
import { peopleActs } from "../../../src/device/people.ts";
import { contactViews } from "../../../src/device/identity/contacts.ts";
import { getContact, updateContact } from "../../../src/device/store/contacts.ts";
import { replaceSkillOrigins, skillOrigins } from "../../../src/device/store/skills.ts";
import { utf8 } from "../../../src/shared/bytes.ts";
import { signRenewal } from "../../../src/shared/crypto/renewal.ts";
import { idText } from "../../../src/shared/ids.ts";
import { aikOf, type DeviceWorld, uploadsFor } from "../../support/device-world.ts";
import { renewedPerson, testNowMs, type TestPerson, valueOf } from "../../support/people.ts";
import {
  bob,
  carol,
  closeWorlds,
  copies,
  id,
  item,
  newWorld,
  reasons,
  receipt,
  rng,
  sentTo,
  texts,
  views,
} from "./inbox-world.ts";

afterEach(closeWorlds);

const first = renewedPerson(rng, bob);
const second = renewedPerson(rng, bob);

/** Bob's renewal, said under his old key. */
function said({ renewal }: typeof first): Uint8Array {
  return item(bob, {
    typeTag: payloadTag.renewal,
    messageId: rng(16),
    content: renewal.record,
  });
}

/** A world that knows Bob, whose relay serves what his new key signed. */
function worldOf(served: TestPerson = first.person): DeviceWorld {
  const world = newWorld(bob);
  world.served.set(idText(bob.accountMailbox), served);
  return world;
}

const contacts = (world: DeviceWorld) =>
  world.parts.store.read((tx) => contactViews(tx, () => testNowMs));

describe("a contact's renewal", () => {
  it("keeps the person and the conversation under the new key, no longer verified", async () => {
    const world = worldOf();
    const { store } = world.parts;
    store.write((tx) => updateContact(tx, aikOf(bob), { verifiedMs: testNowMs, name: "Bob" }));
    await world.deliver(item(bob, { content: utf8("before") }));
    await world.deliver(said(first));
    const aik = aikOf(first.person);
    expect(contacts(world)).toMatchObject([
      { aik, name: "Bob", relation: "contact", renewedMs: testNowMs, reachable: true },
    ]);
    expect(store.read((tx) => getContact(tx, aik))?.verifiedMs).toBeNull();
    expect(store.read((tx) => getContact(tx, aikOf(bob)))).toBeUndefined();
    expect(world.notices.join()).toContain("Bob has a new identity key");
    await world.deliver(item(first.person, { messageId: id(9), content: utf8("after") }));
    expect(texts(world, first.person)).toEqual(["before", "after"]);
    expect(new Set(views(world).map(({ senderAik }) => senderAik))).toEqual(new Set([aik]));
  });

  it("a message that comes again under the new certificate lands once", async () => {
    const world = worldOf();
    await world.deliver(item(bob, { messageId: id(3), content: utf8("queued") }), said(first));
    await world.deliver(item(first.person, { messageId: id(3), content: utf8("queued") }));
    expect(texts(world)).toEqual(["queued"]);
    expect(reasons(world)).toEqual([]);
  });

  it("what is certified under the old key is set aside from then on, lists included", async () => {
    const world = worldOf();
    await world.deliver(said(first));
    const { record } = bob.list;
    await world.deliver(
      item(bob, { content: utf8("from the stolen phone") }),
      item(bob, { typeTag: payloadTag.deviceList, messageId: rng(16), content: record }),
    );
    expect(reasons(world)).toEqual(["aik-renewed", "aik-renewed"]);
    expect(texts(world)).toEqual([]);
  });

  it("the same renewal again changes nothing, and is confirmed again", async () => {
    const world = worldOf();
    const again = said(first);
    await world.deliver(again, said(first), again);
    expect(contacts(world)).toMatchObject([{ aik: aikOf(first.person), reachable: true }]);
    expect(world.notices).toHaveLength(1);
    expect(reasons(world)).toEqual([]);
  });

  it("what waits for them is sent to the new key's devices, and confirmed by them", async () => {
    const world = worldOf();
    const messageId = await sentTo(world, bob);
    expect(copies(world, messageId)).toEqual(["accepted", "accepted"]);
    await world.deliver(said(first));
    await world.deliver(receipt(first.person, messageId));
    expect(copies(world, messageId).toSorted()).toEqual(["accepted", "confirmed"]);
    const later = await sentTo(world, first.person, "later");
    expect(copies(world, later)).toEqual(["accepted", "accepted"]);
  });

  it("a second, different one stops sending until their owner was asked", async () => {
    const world = worldOf();
    await world.deliver(said(first), said(second));
    expect(contacts(world)).toMatchObject([
      { aik: aikOf(first.person), reachable: false, reason: expect.stringContaining("two") },
    ]);
    expect(world.notices.at(-1)).toContain("ALARM");
    const before = uploadsFor(world, bob).length;
    await sentTo(world, first.person, "is it you?");
    expect(uploadsFor(world, bob)).toHaveLength(before);
  });

  it("the key that its owner says is theirs takes the place, with the conversation", async () => {
    const world = worldOf(second.person);
    const people = peopleActs(world.parts);
    await world.deliver(item(bob, { content: utf8("before") }));
    expect(people.contestedKeys(aikOf(bob))).toMatchObject({ error: { type: "not-contested" } });
    await world.deliver(said(first), said(second));
    const waiting = await sentTo(world, first.person, "is it you?");
    const keys = valueOf(people.contestedKeys(aikOf(first.person)));
    expect(keys.map(({ aik }) => aik)).toEqual([aikOf(first.person), aikOf(second.person)]);
    expect(new Set(keys.map(({ digits }) => digits)).size).toBe(2);
    expect(people.contestedKeys(aikOf(first.person), aikOf(carol))).toMatchObject({
      error: { type: "no-such-key" },
    });
    valueOf(people.contestedKeys(aikOf(first.person), aikOf(second.person)));
    await world.turn();
    await world.turn();
    expect(contacts(world)).toMatchObject([{ aik: aikOf(second.person), reachable: true }]);
    expect(texts(world, second.person)).toEqual(["before", "is it you?"]);
    expect(copies(world, waiting)).toEqual(["accepted", "accepted"]);
    await world.deliver(item(second.person, { messageId: id(8), content: utf8("it is") }));
    expect(texts(world, second.person)).toEqual(["before", "is it you?", "it is"]);
  });

  it("choosing the key that is there already goes on with it", async () => {
    const world = worldOf();
    await world.deliver(said(first), said(second));
    const aik = aikOf(first.person);
    valueOf(peopleActs(world.parts).contestedKeys(aik, aik));
    await world.deliver(said(second));
    expect(contacts(world)).toMatchObject([{ aik, reachable: true, renewedMs: undefined }]);
  });

  it("follows one renewal after another, and refuses one that leads back", async () => {
    const world = worldOf();
    const third = renewedPerson(rng, first.person);
    await world.deliver(said(first));
    const { record } = third.renewal;
    await world.deliver(
      item(first.person, { typeTag: payloadTag.renewal, messageId: rng(16), content: record }),
    );
    expect(contacts(world).map(({ aik }) => aik)).toEqual([aikOf(third.person)]);
    const claim = { oldListVersion: 1, oldListHash: new Uint8Array(32), issuedMs: 0n };
    const back = signRenewal(claim, third.person.aik, bob.aik);
    await world.deliver(
      item(third.person, {
        typeTag: payloadTag.renewal,
        messageId: rng(16),
        content: back.record,
      }),
    );
    expect(reasons(world)).toEqual(["renewal-refused"]);
  });

  it("provenance of skills follows, and prose that looks like it does not", async () => {
    const world = worldOf();
    const prose = JSON.stringify({ body: `say "aik":"${aikOf(bob)}"`, aik: aikOf(bob) });
    world.parts.store.write((tx) => replaceSkillOrigins(tx, new Map([["origins", prose]])));
    await world.deliver(said(first));
    const kept = world.parts.store.read((tx) => skillOrigins(tx)).get("origins") ?? "";
    expect(JSON.parse(kept)).toEqual({
      body: `say "aik":"${aikOf(bob)}"`,
      aik: aikOf(first.person),
    });
  });

  it("is nothing that a stranger, or somebody blocked, may say", async () => {
    const world = newWorld(carol);
    await world.deliver(said(first));
    expect(reasons(world)).toEqual(["type-not-allowed"]);
    world.parts.store.write((tx) => updateContact(tx, aikOf(carol), { relation: "blocked" }));
    const { record } = renewedPerson(rng, carol).renewal;
    await world.deliver(
      item(carol, { typeTag: payloadTag.renewal, messageId: rng(16), content: record }),
    );
    expect(reasons(world).toSorted()).toEqual(["blocked", "type-not-allowed"]);
  });
});
