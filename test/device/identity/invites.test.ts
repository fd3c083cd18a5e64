import { describe, expect, it } from "vitest";
import { admitGuest } from "../../../src/device/identity/contacts.ts";
import { closeOwnInvite, draftInvite, readInvite } from "../../../src/device/identity/invites.ts";
import { getContact, putContact } from "../../../src/device/store/contacts.ts";
import { allInvites } from "../../../src/device/store/invites.ts";
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
import { acceptOf, admit, guestAik, inviteOf, openAccept, profile } from "./guest-world.ts";
import { registered, type Registered, viewOf } from "./identity-world.ts";

const read = (reader: Registered, link: string, nowMs: number = testNowMs) =>
  reader.store.read((tx) => readInvite(tx, link, () => nowMs));

describe("making invites", () => {
  it("gives a link that leads to this account, and a key for the relay that is not the secret", () => {
    const alice = registered();
    const moment = { relayNowMs: testNowMs, rng: seededRng("i") };
    const draft = valueOf(alice.store.read((tx) => draftInvite(tx, alice.own, moment)));
    const parsed = valueOf(parseInvite(draft.link));
    expect(parsed).toMatchObject({
      aik: alice.own.aik,
      accountMailbox: alice.own.accountMailbox,
      relayOrigin: testOrigin,
      expiryMs: BigInt(testNowMs + 7 * dayMs),
    });
    expect(draft.request).toMatchObject({
      type: "invite-key",
      expiresMs: testNowMs + 7 * dayMs,
      revoked: false,
    });
    expect(draft.request.key).not.toEqual(parsed.secret);
    expect(draft.link).not.toContain(idText(alice.own.accessKey));
    expect(alice.store.read(allInvites)).toEqual([]);
  });

  it("keeps at most 32 open, and counts neither closed nor expired ones", () => {
    const alice = registered();
    for (let i = 0; i < 32; i++) inviteOf(alice, {}, `i${i}`);
    const draft = (relayNowMs: number) =>
      alice.store.read((tx) => draftInvite(tx, alice.own, { relayNowMs, rng: seededRng("x") }));
    expect(failureOf(draft(testNowMs))).toBe("too-many-invites");
    expect(draft(testNowMs + 7 * dayMs).ok).toBe(true);
    const first = at(alice.store.read(allInvites), 0);
    alice.store.write((tx) => closeOwnInvite(tx, first.inviteId, testNowMs));
    expect(draft(testNowMs).ok).toBe(true);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses a lifetime of %d ms", (lifetimeMs) => {
    const alice = registered();
    const moment = { relayNowMs: testNowMs, rng: seededRng("x") };
    const draft = alice.store.read((tx) => draftInvite(tx, alice.own, moment, { lifetimeMs }));
    expect(failureOf(draft)).toBe("lifetime");
  });
});

describe("reading an invite", () => {
  it("refuses one's own, an expired one and a damaged one, each with what to do", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const link = inviteOf(alice);
    expect(read(carol, link).ok).toBe(true);
    expect(failureOf(read(alice, link))).toBe("own-invite");
    expect(failureOf(read(carol, link.slice(0, -3)))).toBe("invite-malformed");
    expect(read(carol, link, testNowMs + 7 * dayMs - 1).ok).toBe(true);
    expect(failureOf(read(carol, link, testNowMs + 7 * dayMs))).toBe("invite-expired");
  });

  it("judges expiry by the clock of the relay that the invite names", () => {
    const [alice, carol] = [registered("Alice"), registered("Carol")];
    const link = inviteOf(alice);
    const asked: string[] = [];
    carol.store.read((tx) =>
      readInvite(tx, link, (origin) => {
        asked.push(origin);
        return testNowMs;
      }),
    );
    expect(asked).toEqual([testOrigin]);
  });
});

describe("a guest's proof", () => {
  it("opens an open invite, once when it is for single use", () => {
    const alice = registered();
    const link = inviteOf(alice);
    const told = admit(alice, openAccept(alice, link));
    expect(told).toMatchObject({ type: "invite-key", revoked: true });
    expect(viewOf(alice, guestAik)).toMatchObject({ name: "Gus", relation: "contact" });
    const second = createPerson(seededRng("second"));
    const again = openAccept(alice, link, { from: second });
    expect(failureOf(again)).toBe("type-not-allowed");
  });

  it("does not open a closed invite, though the proof is right", () => {
    const alice = registered();
    const link = inviteOf(alice);
    const row = at(alice.store.read(allInvites), 0);
    alice.store.write((tx) => closeOwnInvite(tx, row.inviteId, testNowMs));
    expect(failureOf(openAccept(alice, link))).toBe("type-not-allowed");
    expect(alice.store.write((tx) => closeOwnInvite(tx, row.inviteId, testNowMs))).toBeUndefined();
  });

  it("opens an invite until the moment it expires", () => {
    const alice = registered();
    const link = inviteOf(alice, { lifetimeMs: 1_000 });
    expect(openAccept(alice, link, { nowMs: testNowMs + 999 }).ok).toBe(true);
    expect(failureOf(openAccept(alice, link, { nowMs: testNowMs + 1_000 }))).toBe(
      "type-not-allowed",
    );
  });

  it("is worthless with another secret, for another message or from another account", () => {
    const alice = registered();
    const link = inviteOf(alice);
    const other = new Uint8Array(16).fill(2);
    const failures = [
      openAccept(alice, link, { secret: new Uint8Array(32) }),
      openAccept(alice, link, { proofFor: other }),
      openAccept(alice, link, { messageId: other, proofFor: new Uint8Array(16).fill(1) }),
      openAccept(alice, link, { from: createPerson(seededRng("thief")) }),
    ].map(failureOf);
    expect(failures).toEqual(Array(4).fill("type-not-allowed"));
    expect(alice.store.read((tx) => getContact(tx, guestAik))).toBeUndefined();
  });

  it("leaves a multiple-use invite open for the next guest", () => {
    const alice = registered();
    const link = inviteOf(alice, { multipleUse: true });
    expect(admit(alice, openAccept(alice, link))).toBeUndefined();
    expect(at(alice.store.read(allInvites), 0).closedMs).toBeNull();
  });

  it("makes a stranger's request a contact, and is heard from a contact as a profile", () => {
    const alice = registered();
    alice.store.write((tx) =>
      putContact(tx, { aik: guestAik, name: "stranger", relation: "request", addedMs: 5 }),
    );
    const link = inviteOf(alice);
    admit(alice, openAccept(alice, link));
    expect(alice.store.read((tx) => getContact(tx, guestAik))).toMatchObject({
      relation: "contact",
      name: "Gus",
      addedMs: 5,
    });
    expect(valueOf(openAccept(alice, link)).relation).toBe("contact");
  });

  it("does not let a guest point this device into its own network", () => {
    const alice = registered();
    const link = inviteOf(alice);
    const accept = acceptOf(openAccept(alice, link));
    const inside = { ...accept, profile: { ...profile, relay: "http://192.168.0.1" } };
    alice.store.write((tx) => admitGuest(tx, guestAik, inside, testNowMs));
    expect(alice.store.read((tx) => getContact(tx, guestAik)?.relayOrigin)).toBeNull();
    expect(viewOf(alice, guestAik)).toMatchObject({
      reachable: false,
      reason: "their relay has no https address that this device may call",
    });
  });
});
