/** Opening: what must open, the catalogue of what must not, and that nothing changes either way. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, equalBytes, utf8 } from "../../../src/shared/bytes.ts";
import { prekeyId, signPrekey } from "../../../src/shared/crypto/prekey.ts";
import { blake2b } from "../../../src/shared/crypto/sodium.ts";
import type { SenderContext } from "../../../src/device/crypto/judge-sender.ts";
import { openItem, type Opener } from "../../../src/device/crypto/open.ts";
import { xwingPublicKey } from "../../../src/device/crypto/primitives.ts";
import { sealUpload } from "../../../src/device/crypto/seal.ts";
import { forgeItem, innerOf, plaintextOf } from "../../support/forge.ts";
import { invalidItems } from "../../support/invalid-items.ts";
import {
  at,
  createPerson,
  entryFor,
  failureOf,
  itemsOf,
  knowing,
  nextList,
  openerOf,
  requestOf,
  sealItem,
  testNowMs,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("open");
const alice = createPerson(rng, 2);
const bob = createPerson(rng, 3);
const contact = knowing(alice, "contact");

describe("an honest message", () => {
  it("opens on every device it was sealed to, and on no other", () => {
    const items = itemsOf(valueOf(sealUpload(requestOf(alice, bob), rng)).upload);
    expect(items).toHaveLength(3);
    for (const [index, item] of items.entries()) {
      const opened = valueOf(openItem(item, openerOf(bob, index), contact));
      expect(opened).toMatchObject({
        bucket: 0,
        prekeyId: at(bob.devices, index).prekey.id,
        recipientAik: bob.aik.publicKey,
        recipientList: { version: 1, hashPrefix: bob.list.hash.slice(0, 8) },
        sender: { aik: alice.aik.publicKey, deviceId: at(alice.devices, 0).deviceId },
        relation: "contact",
        typeTag: 0,
        flags: 0,
        sentAtMs: BigInt(testNowMs),
        payload: { kind: "message", text: "hello" },
        confirmed: true,
        refreshNeeded: false,
      });
      const other = openerOf(bob, (index + 1) % 3);
      expect(failureOf(openItem(item, other, contact))).toBe("prekey-unknown");
    }
  });

  it("R52: arrives byte for byte, with NUL, a byte order mark, and empty", () => {
    for (const text of ["", "\0", "\ufeffa", "e\u0301 \u{1f468}\u200d\u{1f469}", "\r\n\t"]) {
      const item = sealItem(requestOf(alice, bob, { content: utf8(text) }), rng);
      const opened = valueOf(openItem(item, openerOf(bob), contact));
      expect(opened.payload).toEqual({ kind: "message", text });
      expect(equalBytes(opened.content, utf8(text))).toBe(true);
    }
  });

  it("arrives for every text, whoever of 1 to 3 devices opens it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 900 }), fc.nat(2), (text, index) => {
        const to = { ...bob, devices: bob.devices.slice(0, index + 1) };
        const request = requestOf(alice, to, { content: utf8(text) });
        const items = itemsOf(valueOf(sealUpload(request, rng)).upload);
        const opened = valueOf(openItem(at(items, index), openerOf(bob, index), contact));
        expect(opened.payload).toEqual({ kind: "message", text });
        expect(opened.bucket).toBe(utf8(text).length <= 695 ? 0 : 1);
      }),
      { numRuns: 40 },
    );
  });

  it("R47, R48: opens whatever time it claims", () => {
    for (const sentAtMs of [0n, 1n, BigInt(testNowMs) * 2n, 2n ** 64n - 1n]) {
      const item = sealItem(requestOf(alice, bob, { sentAtMs }), rng);
      expect(valueOf(openItem(item, openerOf(bob), contact)).sentAtMs).toBe(sentAtMs);
    }
  });

  it("ignores unknown flags, and a larger bucket than needed", () => {
    const item = sealItem(requestOf(alice, bob, { flags: 0xffff, bucket: 2 }), rng);
    const opened = valueOf(openItem(item, openerOf(bob), contact));
    expect([opened.flags, opened.bucket]).toEqual([0xffff, 2]);
  });

  it("opens with an older prekey for as long as it is held", () => {
    const device = at(bob.devices, 0);
    const newer = xwingPublicKey(rng(32));
    const opener: Opener = {
      deviceId: device.deviceId,
      findPrekey: (id) =>
        equalBytes(id, prekeyId(newer)) ? undefined : openerOf(bob).findPrekey(id),
    };
    const item = sealItem(requestOf(alice, bob), rng);
    expect(openItem(item, opener, contact).ok).toBe(true);
    const dropped: Opener = { deviceId: device.deviceId, findPrekey: () => undefined };
    expect(failureOf(openItem(item, dropped, contact))).toBe("prekey-unknown");
    const resealed = sealItem(requestOf(alice, bob), rng);
    expect(openItem(resealed, openerOf(bob), contact).ok).toBe(true);
  });

  it("is bound to the identity key that its prekey was signed under", () => {
    const renewed = createPerson(rng);
    const device = at(bob.devices, 0);
    const prekey = signPrekey(
      { ...device.prekey, publicKey: xwingPublicKey(device.xwingSeed) },
      renewed.aik.publicKey,
      device.dsk.privateKey,
    );
    const to = { ...bob, aik: renewed.aik, devices: [{ ...device, prekey }] };
    const item = sealItem(requestOf(alice, to), rng);
    const opener = (aik: Uint8Array): Opener => ({
      deviceId: device.deviceId,
      findPrekey: () => ({ seed: device.xwingSeed, aik }),
    });
    const opened = valueOf(openItem(item, opener(renewed.aik.publicKey), contact));
    expect(opened.recipientAik).toEqual(renewed.aik.publicKey);
    expect(failureOf(openItem(item, opener(bob.aik.publicKey), contact))).toBe("header");
  });

  it("R14, R31: two senders may use one message id, and each is named by its own key", () => {
    const carol = createPerson(rng);
    const open = (from: typeof alice): Uint8Array =>
      valueOf(
        openItem(sealItem(requestOf(from, bob), rng), openerOf(bob), knowing(from, "contact")),
      ).sender.aik;
    expect(open(alice)).toEqual(alice.aik.publicKey);
    expect(open(carol)).toEqual(carol.aik.publicKey);
  });

  it("has another item hash for every sealing", () => {
    const hashes = [0, 1].map(() => blake2b(32, sealItem(requestOf(alice, bob), rng)));
    expect(at(hashes, 0)).not.toEqual(at(hashes, 1));
  });
});

describe("a newer certificate than the list held", () => {
  it("is accepted, and asks for the list", () => {
    const newcomer = at(createPerson(rng).devices, 0);
    const item = sealItem(requestOf(alice, bob), rng);
    const without = nextList(alice, [entryFor(newcomer, true)]);
    const newer: SenderContext = {
      senderOf: () => ({ relation: "contact", lists: [{ ...without, version: 0 }] }),
      isOpenInvite: () => false,
    };
    expect(valueOf(openItem(item, openerOf(bob), newer)).refreshNeeded).toBe(true);
    const none: SenderContext = { ...newer, senderOf: () => ({ relation: "contact", lists: [] }) };
    expect(valueOf(openItem(item, openerOf(bob), none)).refreshNeeded).toBe(true);
    const stranger = knowing(alice, "unknown");
    expect(valueOf(openItem(item, openerOf(bob), stranger)).refreshNeeded).toBe(false);
  });

  it("does not help a device that one side of a fork does not list", () => {
    const item = sealItem(requestOf(alice, bob), rng);
    const other = nextList(alice, [entryFor(at(alice.devices, 1), true)]);
    const forked: SenderContext = {
      senderOf: () => ({
        relation: "contact",
        lists: [alice.list, { ...other, version: 0 }],
      }),
      isOpenInvite: () => false,
    };
    expect(failureOf(openItem(item, openerOf(bob), forked))).toBe("device-missing");
  });
});

describe("the catalogue of invalid items", () => {
  const catalogue = invalidItems(seededRng("invalid items"));
  const opener = openerOf(catalogue.bob);

  it("has more than 30 entries, each with a name of its own", () => {
    expect(catalogue.cases.length).toBeGreaterThanOrEqual(30);
    expect(new Set(catalogue.cases.map(({ name }) => name)).size).toBe(catalogue.cases.length);
  });

  it.each(catalogue.cases)("$code: $name", ({ code, item, relation, lists }) => {
    const before = item.slice();
    const context: SenderContext = {
      senderOf: () => ({ relation, lists }),
      isOpenInvite: () => false,
    };
    expect(failureOf(openItem(item, opener, context))).toBe(code);
    // Nothing that opening was given has changed: a second look gives the same answer.
    expect(equalBytes(item, before)).toBe(true);
    expect(failureOf(openItem(item, opener, context))).toBe(code);
  });

  it("opens the message that they are variations of", () => {
    const { alice: from, bob: to } = catalogue;
    const item = sealItem(requestOf(from, to), rng);
    expect(openItem(item, opener, knowing(from, "contact")).ok).toBe(true);
  });
});

describe("damage in transit", () => {
  const item = sealItem(requestOf(alice, bob), rng);
  const codes = new Map<string, number>();

  it("refuses every flipped header byte and every third of the body", () => {
    const before = blake2b(32, at(bob.devices, 0).xwingSeed);
    for (let i = 0; i < item.length; i += i < 1_178 ? 1 : 3) {
      const damaged = item.slice();
      damaged[i] = at([...item.subarray(i, i + 1)], 0) ^ (1 << (i % 8));
      const code = failureOf(openItem(damaged, openerOf(bob), contact));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect([...codes.keys()].toSorted()).toEqual([
      "body",
      "commitment",
      "header",
      "length",
      "prekey-unknown",
      "version",
    ]);
    expect(codes.get("prekey-unknown")).toBe(8);
    expect(blake2b(32, at(bob.devices, 0).xwingSeed)).toEqual(before);
    expect(openItem(item, openerOf(bob), contact).ok).toBe(true);
  });

  it("refuses every truncation and extension", () => {
    for (let length = 2; length < item.length; length += 7) {
      expect(failureOf(openItem(item.slice(0, length), openerOf(bob), contact))).toBe("length");
    }
    expect(failureOf(openItem(concat(item, item), openerOf(bob), contact))).toBe("length");
  });
});

describe("the sender in a failure", () => {
  it("is named only after the signature was verified", () => {
    const item = sealItem(requestOf(alice, bob), rng);
    const blocked = openItem(item, openerOf(bob), knowing(alice, "blocked"));
    expect(blocked).toEqual({
      ok: false,
      error: { type: "blocked", senderAik: alice.aik.publicKey },
    });
    const contentKey = rng(32);
    const plaintext = plaintextOf(innerOf(alice, bob), rng(32), at(alice.devices, 0));
    const forged = openItem(forgeItem(bob, { contentKey, plaintext }, rng), openerOf(bob), contact);
    expect(forged).toEqual({ ok: false, error: { type: "signature" } });
  });
});
