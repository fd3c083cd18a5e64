/** Contents by type tag: round trips, who may send what, and texts that UTF-8 cannot carry. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, utf8 } from "../../../src/shared/bytes.ts";
import { signRenewal } from "../../../src/shared/crypto/renewal.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import type { AcceptClaim, SenderContext } from "../../../src/device/crypto/judge-sender.ts";
import { inviteKeys, inviteProof, verifyInviteProof } from "../../../src/device/crypto/kdf.ts";
import { type OpenedMessage, openItem } from "../../../src/device/crypto/open.ts";
import {
  encodeContactAccept,
  encodeEcho,
  encodeOwnKeys,
  encodeReceipt,
  encodeResendSince,
  encodeSync,
  encodeText,
  parsePayload,
} from "../../../src/device/crypto/payload.ts";
import { encodeProfile, parseName, parseProfile } from "../../../src/device/crypto/profile.ts";
import { isPayloadTag, type Relation, typeRule } from "../../../src/device/crypto/type-rules.ts";
import {
  at,
  createPerson,
  failureOf,
  knowing,
  openerOf,
  requestOf,
  sealItem,
  testOrigin,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("payload");
const alice = createPerson(rng, 2);
const bob = createPerson(rng);
const profile = {
  name: "Alice",
  accessKey: alice.accessKey,
  relay: testOrigin,
  accountMailbox: alice.accountMailbox,
};
const secret = rng(32);
const inviteId = rng(16);
const messageId = rng(16);
const proof = inviteProof(inviteKeys(secret).proofKey, {
  messageId,
  guestAik: alice.aik.publicKey,
  inviterAik: bob.aik.publicKey,
});
const certificate = at(alice.devices, 1).certificate.record;

/** One sound content for every tag, and for one that is not assigned. */
const contents: Readonly<Record<number, Uint8Array>> = {
  0: utf8("hello"),
  1: encodeReceipt([rng(16), rng(16)]),
  2: alice.list.record,
  3: encodeProfile(profile),
  4: encodeEcho(bob.aik.publicKey, utf8("sent")),
  5: utf8("from the future"),
  6: encodeResendSince(5n),
  7: signRenewal(
    { oldListVersion: 1, oldListHash: alice.list.hash, issuedMs: 1n },
    alice.aik,
    newSigningKey(rng),
  ).record,
  8: encodeContactAccept({ inviteId, proof, profile }),
  9: encodeOwnKeys(certificate, alice.aik.seed),
  10: encodeSync("settings", { theme: "dark" }),
  255: new Uint8Array(0),
};

function open(typeTag: number, context: SenderContext): ReturnType<typeof openItem> {
  const content = contents[typeTag] ?? new Uint8Array(0);
  const request = requestOf(alice, bob, { typeTag, content, messageId });
  return openItem(sealItem(request, rng), openerOf(bob), context);
}

function opened(typeTag: number, relation: Relation): OpenedMessage {
  return valueOf(open(typeTag, knowing(alice, relation)));
}

describe("who may send what", () => {
  const everyone = ["self", "contact", "unknown"];
  const allowed: Readonly<Record<number, readonly string[]>> = {
    0: everyone,
    1: ["self", "contact"],
    2: ["self", "contact"],
    3: ["self", "contact"],
    4: ["self"],
    5: ["self", "contact"],
    6: ["self", "contact"],
    7: ["self", "contact"],
    8: ["contact"],
    9: ["self"],
    10: ["self"],
    255: ["self", "contact"],
  };

  it.each(Object.entries(allowed))("tag %s: %j", (tag, relations) => {
    for (const relation of ["self", "contact", "unknown"] as const) {
      const result = open(Number(tag), knowing(alice, relation));
      const outcome = result.ok ? "allowed" : result.error.type;
      expect([relation, outcome]).toEqual([
        relation,
        relations.includes(relation) ? "allowed" : "type-not-allowed",
      ]);
    }
    expect(failureOf(open(Number(tag), knowing(alice, "blocked")))).toBe("blocked");
    expect(failureOf(open(Number(tag), knowing(alice, "renewed")))).toBe("aik-renewed");
  });

  it("confirms everything but receipts and resend requests", () => {
    const unconfirmed = Object.keys(allowed).filter((tag) => !typeRule(Number(tag)).confirmed);
    expect(unconfirmed).toEqual(["1", "6"]);
    expect(isPayloadTag(5)).toBe(false);
    expect(isPayloadTag(10)).toBe(true);
  });

  it("keeps an unassigned tag opaque, and confirms it", () => {
    expect(opened(255, "contact")).toMatchObject({
      payload: { kind: "unassigned", typeTag: 255 },
      confirmed: true,
    });
    expect(opened(5, "self").content).toEqual(contents[5]);
  });
});

describe("a stranger's contact-accept", () => {
  const claims: AcceptClaim[] = [];
  const invited: SenderContext = {
    senderOf: () => ({ relation: "unknown", lists: [] }),
    isOpenInvite: (claim) => {
      claims.push(claim);
      return verifyInviteProof(inviteKeys(secret).proofKey, claim.proof, claim);
    },
  };

  it("is heard with a valid proof", () => {
    const message = valueOf(open(8, invited));
    expect(message.payload).toEqual({ kind: "contact-accept", inviteId, proof, profile });
    expect(message.relation).toBe("unknown");
    expect(claims.at(-1)).toEqual({
      inviteId,
      proof,
      messageId,
      guestAik: alice.aik.publicKey,
      inviterAik: bob.aik.publicKey,
    });
  });

  it("is refused with the proof of another message, guest or invite", () => {
    const carol = createPerson(rng);
    const content = contents[8] ?? new Uint8Array(0);
    const requests = [
      requestOf(alice, bob, { typeTag: 8, content, messageId: rng(16) }),
      requestOf(carol, bob, { typeTag: 8, content, messageId }),
      requestOf(alice, bob, {
        typeTag: 8,
        content: encodeContactAccept({ inviteId, proof: rng(32), profile }),
        messageId,
      }),
    ];
    for (const request of requests) {
      const refused = openItem(sealItem(request, rng), openerOf(bob), invited);
      expect(failureOf(refused)).toBe("type-not-allowed");
    }
  });

  it("is malformed, not disallowed, when only its profile is broken", () => {
    const content = concat(inviteId, proof, utf8("{}"));
    const request = requestOf(alice, bob, { typeTag: 8, content, messageId });
    expect(failureOf(openItem(sealItem(request, rng), openerOf(bob), invited))).toBe("content");
  });
});

describe("contents", () => {
  it("round-trip through sealing and opening", () => {
    expect(opened(1, "contact").payload).toMatchObject({ kind: "receipt" });
    expect(opened(2, "contact").payload).toEqual({ kind: "device-list", list: alice.list });
    expect(opened(3, "contact").payload).toEqual({ kind: "profile", profile });
    expect(opened(4, "self").payload).toEqual({
      kind: "echo",
      recipientAik: bob.aik.publicKey,
      text: "sent",
    });
    expect(opened(6, "contact").payload).toEqual({ kind: "resend-since", sinceMs: 5n });
    expect(opened(7, "self").payload).toMatchObject({ kind: "renewal" });
    expect(opened(9, "self").payload).toMatchObject({
      kind: "own-keys",
      certificate: at(alice.devices, 1).certificate,
      aikSeed: alice.aik.seed,
    });
    expect(opened(10, "self").payload).toEqual({
      kind: "sync",
      topic: "settings",
      json: { kind: "settings", theme: "dark" },
    });
  });

  it("hands over keys without the seed, too", () => {
    const payload = valueOf(parsePayload(9, encodeOwnKeys(certificate), alice.aik.publicKey));
    expect(payload).toEqual({ kind: "own-keys", certificate: at(alice.devices, 1).certificate });
  });

  it("holds 1 to 32 ids in a receipt", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), (count) => {
        const messageIds = Array.from({ length: count }, () => rng(16));
        const parsed = parsePayload(1, encodeReceipt(messageIds), alice.aik.publicKey);
        expect(valueOf(parsed)).toEqual({ kind: "receipt", messageIds });
      }),
      { numRuns: 32 },
    );
    expect(() => encodeReceipt([])).toThrow(/0 ids/);
    expect(() => encodeReceipt(Array.from({ length: 33 }, () => rng(16)))).toThrow(/33 ids/);
  });

  it("R52: refuses lone surrogates where a text is composed", () => {
    for (const text of ["\ud83d", "a\udc00b", "\ude00\ud83d"]) {
      expect(failureOf(encodeText(text))).toBe("lone-surrogate");
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const payload = parsePayload(0, valueOf(encodeText(text)), alice.aik.publicKey);
        expect(valueOf(payload)).toEqual({ kind: "message", text });
      }),
    );
  });

  it("does not let a sync override its own kind", () => {
    expect(JSON.parse(Buffer.from(encodeSync("a", { kind: "b" })).toString())).toEqual({
      kind: "a",
    });
  });
});

describe("profile", () => {
  it("round-trips for every name, in the smallest bucket behind a contact-accept", () => {
    const quotes = '"\\'.repeat(64);
    for (const name of ["", "A", "Zoë \u{1f600}", "a".repeat(128), quotes]) {
      const relay = `https://${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.example`;
      const bytes = encodeProfile({ ...profile, name, relay });
      expect(48 + bytes.length).toBeLessThanOrEqual(727);
      expect(valueOf(parseProfile(bytes))).toEqual({ ...profile, name, relay });
    }
  });

  it("ignores fields of a newer version", () => {
    const json = JSON.parse(Buffer.from(encodeProfile(profile)).toString());
    expect(parseProfile(utf8(JSON.stringify({ ...json, avatar: 1 }))).ok).toBe(true);
  });

  it.each<[string, Record<string, unknown>]>([
    ["a name of 129 bytes", { name: "a".repeat(129) }],
    ["a control character in the name", { name: "a\nb" }],
    ["a lone surrogate in the name", { name: "\ud83d" }],
    ["a name that is a number", { name: 5 }],
    ["a short access key", { access_key: "AAAA" }],
    ["padding in the access key", { access_key: `${"A".repeat(43)}=` }],
    ["a long mailbox", { account_mailbox: "A".repeat(43) }],
    ["a relay with a path", { relay: "https://relay.example/x" }],
    ["a relay of another scheme", { relay: "ftp://relay.example" }],
    ["a relay of over 256 bytes", { relay: `https://${"a".repeat(260)}.example` }],
  ])("refuses %s", (_name, change) => {
    const json = JSON.parse(Buffer.from(encodeProfile(profile)).toString());
    expect(failureOf(parseProfile(utf8(JSON.stringify({ ...json, ...change }))))).toBe("content");
  });

  it("is never encoded out of bounds", () => {
    expect(() => encodeProfile({ ...profile, name: "a\0b" })).toThrow(/name is out of bounds/);
    expect(() => encodeProfile({ ...profile, relay: "https://a/b" })).toThrow(/origin/);
    for (const text of ["\ud83d", "", "a\u009bb", "a".repeat(129)]) {
      expect(failureOf(parseName(text))).toBe("name");
    }
  });
});
