import { describe, expect, it } from "vitest";
import { parsePayload } from "../../../src/device/crypto/payload.ts";
import { learnBundle } from "../../../src/device/identity/bundles.ts";
import {
  applyProfile,
  beginContact,
  contactViews,
  findContact,
  ownProfile,
  relationOf,
} from "../../../src/device/identity/contacts.ts";
import { acceptContent } from "../../../src/device/identity/invites.ts";
import { learnLists, listStopped } from "../../../src/device/identity/lists.ts";
import { getContact, putContact, updateContact } from "../../../src/device/store/contacts.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { parseInvite } from "../../../src/shared/crypto/invite.ts";
import { idText } from "../../../src/shared/ids.ts";
import {
  at,
  createPerson,
  failureOf,
  testNowMs,
  testOrigin,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { guestAik, inviteOf, profile } from "./guest-world.ts";
import { befriend, bundleOf, chainOf, listOf, registered, viewOf } from "./identity-world.ts";

describe("accepting an invite", () => {
  it("knows the inviter at once, reaches them by the invite key, and waits for their name", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const parsed = valueOf(parseInvite(inviteOf(alice)));
    const row = valueOf(carol.store.write((tx) => beginContact(tx, parsed, testNowMs)));
    expect(row).toMatchObject({ relation: "invited", relayOrigin: testOrigin, accessKey: null });
    expect(carol.store.read((tx) => relationOf(tx, alice.own.aikText))).toBe("contact");
    carol.store.write((tx) => applyProfile(tx, alice.own.aikText, ownProfile(alice.own)));
    expect(viewOf(carol, alice.own.aikText)).toMatchObject({ name: "Alice", relation: "contact" });
    expect(carol.store.read((tx) => getContact(tx, alice.own.aikText)?.accessKey)).toEqual(
      alice.own.accessKey,
    );
  });

  it("sends a contact-accept whose parts parse back", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const parsed = valueOf(parseInvite(inviteOf(alice)));
    const messageId = new Uint8Array(16).fill(3);
    const content = acceptContent(carol.own, parsed, {
      messageId,
      profile: ownProfile(carol.own),
    });
    expect(valueOf(parsePayload(8, content, carol.own.aik))).toMatchObject({
      kind: "contact-accept",
      inviteId: parsed.inviteId,
      profile: { name: "Carol", relay: testOrigin },
    });
  });

  it("keeps a contact a contact, and refuses somebody blocked", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const parsed = valueOf(parseInvite(inviteOf(alice)));
    const begin = () => carol.store.write((tx) => beginContact(tx, parsed, testNowMs));
    valueOf(begin());
    carol.store.write((tx) => applyProfile(tx, alice.own.aikText, ownProfile(alice.own)));
    expect(valueOf(begin())).toMatchObject({ relation: "contact", name: "Alice" });
    carol.store.write((tx) => updateContact(tx, alice.own.aikText, { relation: "blocked" }));
    expect(failureOf(begin())).toBe("contact-blocked");
  });

  it("starts the inviter's device history anew after a fork", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const parsed = valueOf(parseInvite(inviteOf(alice)));
    const bob = createPerson(seededRng("bob"));
    const aik = befriend(carol, bob);
    const [first, second] = chainOf(bob, 2);
    if (first === undefined || second === undefined) throw new Error("no chain");
    const rival = listOf(bob, { version: 2, prevHash: first.hash, issuedMs: 9 });
    carol.store.write((tx) => learnLists(tx, aik, [first, second]));
    carol.store.write((tx) => learnLists(tx, aik, [rival]));
    expect(viewOf(carol, aik)).toMatchObject({
      reachable: false,
      reason: expect.stringContaining("sending stopped"),
    });
    const inPerson = { ...parsed, aik: bob.aik.publicKey };
    carol.store.write((tx) => beginContact(tx, inPerson, testNowMs));
    expect(carol.store.read((tx) => listStopped(tx, aik))).toBeUndefined();
  });
});

describe("profiles", () => {
  const bob = createPerson(seededRng("bob"));
  const bobProfile = { ...profile, accountMailbox: bob.accountMailbox, accessKey: bob.accessKey };

  it("change name and key at once", () => {
    const alice = registered();
    const aik = befriend(alice, bob);
    const accessKey = new Uint8Array(32).fill(6);
    const apply = () =>
      alice.store.write((tx) => applyProfile(tx, aik, { ...bobProfile, name: "Bobby", accessKey }));
    expect(apply()).toEqual({ named: true, keyChanged: true, otherRelay: undefined });
    expect(apply()).toEqual({ named: false, keyChanged: false, otherRelay: undefined });
    expect(alice.store.read((tx) => getContact(tx, aik)?.accessKey)).toEqual(accessKey);
  });

  it("do not move a contact to another relay without consent", () => {
    const alice = registered();
    const aik = befriend(alice, bob);
    const moved = {
      ...bobProfile,
      name: "Bobby",
      relay: "https://new.example",
      accessKey: new Uint8Array(32),
    };
    const change = alice.store.write((tx) => applyProfile(tx, aik, moved));
    expect(change?.otherRelay).toBe("https://new.example");
    expect(alice.store.read((tx) => getContact(tx, aik))).toMatchObject({
      name: "Bobby",
      relayOrigin: testOrigin,
      accessKey: bob.accessKey,
    });
  });

  it("mean nothing from somebody unknown, waiting or blocked", () => {
    const alice = registered();
    const aik = idText(bob.aik.publicKey);
    const apply = () => alice.store.write((tx) => applyProfile(tx, aik, bobProfile));
    expect(apply()).toBeUndefined();
    for (const relation of ["request", "blocked"] as const) {
      alice.store.write((tx) => putContact(tx, { aik, name: "x", relation, addedMs: 1 }));
      expect(apply()).toBeUndefined();
      expect(alice.store.read((tx) => getContact(tx, aik))).toMatchObject({ relation, name: "x" });
    }
  });
});

describe("people as they are shown", () => {
  it("says why somebody cannot be reached, and that they can once a prekey is there", () => {
    const alice = registered();
    const bob = createPerson(seededRng("bob"));
    const aik = befriend(alice, bob);
    const reason = () => viewOf(alice, aik)?.reason;
    expect(reason()).toContain("not known yet");
    alice.store.write((tx) => learnLists(tx, aik, [bob.list]));
    expect(reason()).toBe("none of their devices has a current prekey");
    const bundle = bundleOf([bob.list], [at(bob.devices, 0).prekey.record]);
    valueOf(alice.store.write((tx) => learnBundle(tx, aik, bundle, testNowMs)));
    expect(viewOf(alice, aik)).toEqual({
      aik,
      name: "Bob",
      relation: "contact",
      reachable: true,
      reason: undefined,
      relayOrigin: testOrigin,
      devices: 1,
    });
    expect(viewOf(alice, aik, testNowMs + 46 * dayMs)?.reachable).toBe(false);
    alice.store.write((tx) => updateContact(tx, aik, { accessKey: null }));
    expect(reason()).toBe("no key to their mailbox yet: exchange an invite");
    alice.store.write((tx) => updateContact(tx, aik, { relation: "blocked" }));
    expect(reason()).toBe("blocked by you");
    alice.store.write((tx) => updateContact(tx, aik, { relation: "request" }));
    expect(reason()).toContain("message request");
  });

  it("tells oneself, contacts, strangers and blocked people apart", () => {
    const alice = registered();
    const relation = (aik: string) => alice.store.read((tx) => relationOf(tx, aik));
    const aik = befriend(alice, createPerson(seededRng("bob")));
    expect(relation(alice.own.aikText)).toBe("self");
    expect(relation(guestAik)).toBe("unknown");
    for (const [stored, heard] of [
      ["contact", "contact"],
      ["invited", "contact"],
      ["request", "unknown"],
      ["blocked", "blocked"],
    ] as const) {
      alice.store.write((tx) => updateContact(tx, aik, { relation: stored }));
      expect(relation(aik)).toBe(heard);
    }
  });

  it("finds people by key and by name, and asks when two share one", () => {
    const alice = registered();
    const [bob, rob] = [createPerson(seededRng("bob")), createPerson(seededRng("rob"))];
    const aik = befriend(alice, bob, "Zoë");
    const find = (name: string) => alice.store.read((tx) => findContact(tx, name));
    expect(valueOf(find("zoe\u0308")).aik).toBe(aik);
    expect(valueOf(find(aik)).name).toBe("Zoë");
    expect(failureOf(find("Zo"))).toBe("no-contact");
    befriend(alice, rob, "ZOË");
    expect(failureOf(find("Zoë"))).toBe("ambiguous-contact");
    expect(alice.store.read((tx) => contactViews(tx, () => testNowMs))).toHaveLength(2);
  });
});
