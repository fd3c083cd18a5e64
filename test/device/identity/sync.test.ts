import { describe, expect, it } from "vitest";
import { learnLists, newestList } from "../../../src/device/identity/lists.ts";
import { queueContacts, queueInvites, queueNames } from "../../../src/device/identity/sync.ts";
import { applySync, contactJson } from "../../../src/device/identity/sync-records.ts";
import { allContacts, getContact, updateContact } from "../../../src/device/store/contacts.ts";
import { siblingName } from "../../../src/device/store/device-names.ts";
import { addInvite, allInvites, closeInvite } from "../../../src/device/store/invites.ts";
import { idText } from "../../../src/shared/ids.ts";
import { createPerson, testNowMs, testOrigin } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { befriend, chainOf, registered } from "./identity-world.ts";
import { apply, bob, bobAik, carry, moment, queued } from "./sync-world.ts";

describe("people", () => {
  it("arrive with keys, relay and pinned device list", () => {
    const [laptop, phone] = [registered("Alice"), registered("Alice")];
    befriend(laptop, bob);
    laptop.store.write((tx) => learnLists(tx, bobAik, chainOf(bob, 3)));
    laptop.store.write((tx) => queueContacts(tx, laptop.own, moment));
    expect(carry(laptop, phone)).toEqual([{ taken: 1, skipped: 0 }]);
    expect(phone.store.read((tx) => getContact(tx, bobAik))).toEqual(
      laptop.store.read((tx) => getContact(tx, bobAik)),
    );
    expect(phone.store.read((tx) => newestList(tx, bobAik)?.version)).toBe(3);
  });

  it("do not overwrite what a device knows first-hand", () => {
    const [laptop, phone] = [registered("Alice"), registered("Alice")];
    befriend(laptop, bob, "Bob of old");
    befriend(phone, bob, "Bob today");
    const accessKey = new Uint8Array(32).fill(8);
    phone.store.write((tx) => updateContact(tx, bobAik, { accessKey, relation: "blocked" }));
    phone.store.write((tx) => learnLists(tx, bobAik, chainOf(bob, 2)));
    laptop.store.write((tx) => learnLists(tx, bobAik, chainOf(bob, 4)));
    laptop.store.write((tx) => queueContacts(tx, laptop.own, moment));
    carry(laptop, phone);
    expect(phone.store.read((tx) => getContact(tx, bobAik))).toMatchObject({
      name: "Bob today",
      relation: "blocked",
      accessKey,
    });
    expect(phone.store.read((tx) => newestList(tx, bobAik)?.version)).toBe(2);
  });

  it("fill in what is missing, and make an invited person a contact", () => {
    const [laptop, phone] = [registered("Alice"), registered("Alice")];
    for (const each of [laptop, phone]) befriend(each, bob);
    phone.store.write((tx) =>
      updateContact(tx, bobAik, { relation: "invited", accessKey: null, name: "contact x" }),
    );
    laptop.store.write((tx) => queueContacts(tx, laptop.own, moment, [bobAik]));
    carry(laptop, phone);
    expect(phone.store.read((tx) => getContact(tx, bobAik))).toMatchObject({
      name: "Bob",
      relation: "contact",
      accessKey: bob.accessKey,
    });
  });

  it("are told one by one when only they changed", () => {
    const laptop = registered("Alice");
    befriend(laptop, bob);
    befriend(laptop, createPerson(seededRng("eve")), "Eve");
    laptop.store.write((tx) => queueContacts(tx, laptop.own, moment, [bobAik]));
    const phone = registered("Alice");
    carry(laptop, phone);
    expect(phone.store.read(allContacts).map((row) => row.name)).toEqual(["Bob"]);
  });
});

describe("invites", () => {
  const row = {
    inviteId: idText(seededRng("invite")(16)),
    secret: seededRng("secret")(32),
    expiresMs: testNowMs + 1_000,
    singleUse: true,
    createdMs: testNowMs,
    closedMs: null,
  };

  it("arrive open, and stay closed once one device has closed them", () => {
    const [laptop, phone] = [registered("Alice"), registered("Alice")];
    laptop.store.write((tx) => addInvite(tx, row));
    laptop.store.write((tx) => queueInvites(tx, laptop.own, moment));
    carry(laptop, phone);
    expect(phone.store.read(allInvites)).toEqual([row]);
    phone.store.write((tx) => closeInvite(tx, row.inviteId, testNowMs + 5));
    carry(laptop, phone);
    expect(phone.store.read(allInvites)).toEqual([{ ...row, closedMs: testNowMs + 5 }]);
    const late = { ...row, closedMs: testNowMs + 9 };
    laptop.store.write((tx) => closeInvite(tx, row.inviteId, late.closedMs));
    laptop.store.write((tx) => queueInvites(tx, laptop.own, moment));
    carry(laptop, phone);
    expect(phone.store.read(allInvites)).toEqual([{ ...row, closedMs: testNowMs + 5 }]);
    const tablet = registered("Alice");
    tablet.store.write((tx) => addInvite(tx, row));
    phone.store.write((tx) => queueInvites(tx, phone.own, moment));
    carry(phone, tablet);
    expect(tablet.store.read(allInvites)).toEqual([{ ...row, closedMs: testNowMs + 5 }]);
  });
});

describe("notes that are not what they should be", () => {
  it("are skipped record by record, and counted", () => {
    const alice = registered("Alice");
    const person = {
      aik: bobAik,
      name: "Bob",
      relation: "contact",
      relay: testOrigin,
      account_mailbox: null,
      access_key: null,
      invite_key: null,
      added_ms: 1,
      verified_ms: null,
      device_list: null,
    };
    const outcome = apply(
      alice,
      "contacts",
      null,
      7,
      { ...person, aik: "short" },
      { ...person, aik: `${bobAik.slice(0, -1)}_` },
      { ...person, relation: "admin" },
      { ...person, name: "" },
      { ...person, name: "bell\u0007" },
      { ...person, relay: "https://a.example/path" },
      { ...person, added_ms: -1 },
      person,
    );
    expect(outcome).toEqual({ taken: 1, skipped: 9 });
    expect(alice.store.read(allContacts)).toHaveLength(1);
  });

  it("take no list of another account with a person", () => {
    const alice = registered("Alice");
    befriend(alice, bob);
    const eve = createPerson(seededRng("eve"));
    const row = alice.store.read((tx) => getContact(tx, bobAik));
    if (row === undefined) throw new Error("no contact");
    expect(apply(alice, "contacts", contactJson(row, eve.list.record))).toEqual({
      taken: 1,
      skipped: 0,
    });
    expect(alice.store.read((tx) => newestList(tx, bobAik))).toBeUndefined();
  });

  it("of an unknown topic are left to a newer version; without items they are empty", () => {
    const alice = registered("Alice");
    expect(apply(alice, "weather", {})).toBeUndefined();
    const origin = { nowMs: testNowMs, senderDevice: idText(alice.own.deviceId) };
    expect(alice.store.write((tx) => applySync(tx, "contacts", {}, origin))).toEqual({
      taken: 0,
      skipped: 0,
    });
  });
});

describe("names of devices", () => {
  it("are told when the list changed; a device's own word counts, another's fills a gap", () => {
    const phone = registered("Alice");
    const [mine, other] = [`${"C".repeat(21)}A`, `${"B".repeat(21)}A`];
    const tell = (senderDevice: string, ...items: readonly unknown[]) =>
      phone.store.write((tx) =>
        applySync(tx, "devices", { items }, { nowMs: testNowMs, senderDevice }),
      );
    tell(other, { device_id: mine, name: "guess" });
    expect(phone.store.read((tx) => siblingName(tx, mine))).toBe("guess");
    tell(mine, { device_id: mine, name: "laptop" });
    tell(other, { device_id: mine, name: "guess again" });
    expect(phone.store.read((tx) => siblingName(tx, mine))).toBe("laptop");
    expect(
      tell(mine, { device_id: mine, name: "two\nlines" }, { device_id: mine, name: "" }, {}),
    ).toEqual({ taken: 0, skipped: 3 });
  });

  it("are not told while there is nobody to tell", () => {
    const laptop = registered("Alice");
    laptop.store.write((tx) => queueNames(tx, laptop.own, testNowMs, moment));
    expect(laptop.store.read(queued)).toEqual([]);
  });
});
