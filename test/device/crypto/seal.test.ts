/** Sealing: layout, draw order, buckets and their edges, and the two errors. */
import sodium from "libsodium-wrappers";
import { describe, expect, it } from "vitest";
import { concat, u32, u64, u8, utf8 } from "../../../src/shared/bytes.ts";
import { originHash } from "../../../src/shared/crypto/origin.ts";
import { verify } from "../../../src/shared/crypto/sodium.ts";
import { deliveryTokenInput, keyKind, tokenMatches } from "../../../src/shared/crypto/token.ts";
import { contentBytesByBucket, maxMessageBytes } from "../../../src/shared/limits.ts";
import type { Rng } from "../../../src/shared/rng.ts";
import { parseUpload } from "../../../src/shared/wire/envelope.ts";
import { parseInner, signInner, verifyInner } from "../../../src/device/crypto/inner.ts";
import { openItem } from "../../../src/device/crypto/open.ts";
import { pad } from "../../../src/device/crypto/primitives.ts";
import { bucketFor, sealHeader, sealUpload } from "../../../src/device/crypto/seal.ts";
import { payloadTag } from "../../../src/device/crypto/type-rules.ts";
import { innerOf } from "../../support/forge.ts";
import {
  at,
  createPerson,
  failureOf,
  itemsOf,
  knowing,
  openerOf,
  requestOf,
  sealItem,
  testOrigin,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("seal");
const alice = createPerson(rng);
const bob = createPerson(rng, 2);
const contact = knowing(alice, "contact");
/** Bytes of message that fit a bucket, and bytes of any other content. */
const messageEdges = [695, 3_767, 16_055, 65_207, 261_815];
const contentEdges = [727, 3_799, 16_087, 65_239, 261_847];

function filled(bytes: number): Uint8Array {
  return new Uint8Array(bytes).fill(0x61);
}

function outcome(typeTag: number, length: number): string | number {
  const chosen = bucketFor({ typeTag, content: filled(length) });
  return chosen.ok ? chosen.value : chosen.error.type;
}

describe("an upload", () => {
  it("names its slot, its prekeys and its bucket, and carries a valid token", () => {
    const request = requestOf(alice, bob);
    const sealed = valueOf(sealUpload(request, rng));
    const upload = valueOf(parseUpload(sealed.upload));
    expect(upload).toMatchObject({
      bucket: 0,
      keyKind: keyKind.access,
      accountMailbox: bob.accountMailbox,
      slot: sealed.slot,
      day: request.slotDay,
      tokenExpiryMs: request.token.expiryMs,
    });
    expect(upload.entries.map(({ mailbox }) => mailbox)).toEqual(
      bob.devices.map(({ mailbox }) => mailbox),
    );
    expect(sealed.prekeys).toEqual(
      bob.devices.map(({ deviceId, prekey }) => ({ deviceId, prekeyId: prekey.id })),
    );
    const input = deliveryTokenInput(sealed.upload, originHash(testOrigin));
    expect(tokenMatches(input, upload.token, bob.accessKey)).toBe(true);
  });

  it("draws content key, slot, then 64 bytes for each device", () => {
    const draws: number[] = [];
    const counting: Rng = (bytes) => {
      draws.push(bytes);
      return rng(bytes);
    };
    valueOf(sealUpload(requestOf(alice, bob), counting));
    expect(draws).toEqual([32, 14, 64, 64]);
  });

  it("is the same for the same draws and shares nothing for others", () => {
    const request = requestOf(alice, bob);
    const seal = (seed: string): Uint8Array => valueOf(sealUpload(request, seededRng(seed))).upload;
    expect(seal("a")).toEqual(seal("a"));
    const [a, b] = [seal("a"), seal("b")];
    const equal = a.filter((byte, i) => byte === b[i]).length;
    // Prefix, mailboxes and prekey ids stay; of the rest one byte in 256 agrees by chance.
    expect(equal).toBeLessThan(44 + 2 * 24 + a.length / 100);
  });

  it("addresses 1 to 16 devices", () => {
    const many = createPerson(rng, 16);
    const devices = [...many.devices, at(bob.devices, 0)];
    const to = (count: number): ReturnType<typeof requestOf> =>
      requestOf(alice, { ...many, devices: devices.slice(0, count) });
    expect(valueOf(sealUpload(to(16), rng)).prekeys).toHaveLength(16);
    expect(() => sealUpload(to(0), rng)).toThrow(/0 devices/);
    expect(() => sealUpload(to(17), rng)).toThrow(/17 devices/);
  });

  it("refuses a small-order prekey, and names the device", () => {
    const [first, second] = [at(bob.devices, 0), at(bob.devices, 1)];
    const publicKey = second.prekey.publicKey.slice();
    publicKey.fill(0, 1_184);
    const bad = { ...second, prekey: { ...second.prekey, publicKey } };
    const refused = sealUpload(requestOf(alice, { ...bob, devices: [first, bad] }), rng);
    expect(refused).toEqual({
      ok: false,
      error: { type: "no-prekey", deviceIds: [second.deviceId] },
    });
    const outOfRange = second.prekey.publicKey.slice().fill(0xff, 0, 1_184);
    const target = {
      aik: bob.aik.publicKey,
      deviceId: second.deviceId,
      bucket: 0,
      commitment: rng(32),
    };
    for (const key of [publicKey, outOfRange, rng(10)]) {
      const header = sealHeader(
        rng(32),
        { ...target, prekey: { id: rng(8), publicKey: key } },
        rng(64),
      );
      expect(failureOf(header)).toBe("no-prekey");
    }
  });
});

describe("buckets", () => {
  it.each(messageEdges.map((bytes, bucket) => [bucket, bytes] as const))(
    "bucket %i holds a message of %i bytes and its echo, and no byte more",
    (bucket, bytes) => {
      const of = outcome.bind(undefined, payloadTag.message);
      expect([of(bytes - 1), of(bytes)]).toEqual([bucket, bucket]);
      expect(of(bytes + 1)).toBe(bucket === 4 ? "too-large" : bucket + 1);
      const echo = bucketFor({ typeTag: payloadTag.echo, content: filled(bytes + 32) });
      expect(valueOf(echo)).toBe(bucket);
    },
  );

  it.each(contentEdges.map((bytes, bucket) => [bucket, bytes] as const))(
    "bucket %i holds any other content of %i bytes",
    (bucket, bytes) => {
      const of = outcome.bind(undefined, payloadTag.sync);
      expect([of(bytes), of(bytes + 1)]).toEqual([bucket, bucket === 4 ? "too-large" : bucket + 1]);
    },
  );

  it.each(messageEdges)("a message of %i bytes arrives", (bytes) => {
    const item = sealItem(requestOf(alice, bob, { content: filled(bytes) }), rng);
    const opened = valueOf(openItem(item, openerOf(bob), contact));
    expect(opened.content.length).toBe(bytes);
    expect(opened.content.every((byte) => byte === 0x61)).toBe(true);
  });

  it.each(contentEdges)("a fully padded content of %i bytes arrives", (bytes) => {
    const content = concat(alice.aik.publicKey, filled(bytes - 32));
    const item = sealItem(requestOf(alice, bob, { typeTag: payloadTag.echo, content }), rng);
    const opened = valueOf(openItem(item, openerOf(bob), knowing(alice, "self")));
    expect(opened.content.length).toBe(bytes);
  });

  it("R49, R51: refuses what is too large before anything is sealed, with the limit", () => {
    const content = filled(maxMessageBytes + 1);
    const refused = sealUpload(requestOf(alice, bob, { content }), () => {
      throw new Error("drew randomness");
    });
    expect(refused).toEqual({
      ok: false,
      error: { type: "too-large", limitBytes: 261_815, contentBytes: 261_816 },
    });
    const sync = { typeTag: payloadTag.sync, content: filled(261_848) };
    expect(bucketFor(sync)).toEqual({
      ok: false,
      error: { type: "too-large", limitBytes: 261_847, contentBytes: 261_848 },
    });
  });

  it("may be larger than needed, never smaller", () => {
    const receipt = { typeTag: payloadTag.receipt, content: filled(16) };
    expect(valueOf(bucketFor({ ...receipt, bucket: 2 }))).toBe(2);
    expect(valueOf(bucketFor({ ...receipt, content: filled(4_000), bucket: 0 }))).toBe(2);
    const item = sealItem(requestOf(alice, bob, { ...receipt, bucket: 1 }), rng);
    expect(valueOf(openItem(item, openerOf(bob), contact)).bucket).toBe(1);
  });

  it("keeps one byte for padding", () => {
    expect(contentBytesByBucket).toEqual(contentEdges);
    expect(() => pad(filled(1_024), 1_024)).toThrow(RangeError);
    for (const length of [0, 1, 15, 16, 700, 1_022, 1_023]) {
      expect(pad(filled(length), 1_024)).toEqual(sodium.pad(filled(length), 1_024));
    }
    expect(() => sealUpload(requestOf(alice, bob, { bucket: 5 }), rng)).toThrow(/bucket 5/);
  });
});

describe("the inner plaintext", () => {
  const device = at(alice.devices, 0);
  const contentKey = rng(32);

  it("has the layout of the specification", () => {
    const inner = innerOf(alice, bob, { typeTag: 7, flags: 0x0102, content: utf8("hi") });
    const bytes = signInner(inner, contentKey, device.dsk.privateKey);
    expect(bytes.slice(0, -64)).toEqual(
      concat(
        Uint8Array.of(1, 7, 1, 2),
        inner.messageId,
        u64(inner.sentAtMs),
        bob.aik.publicKey,
        u32(1),
        bob.list.hash.slice(0, 8),
        device.certificate.record,
        u32(2),
        utf8("hi"),
      ),
    );
    const signature = bytes.slice(-64);
    const signed = concat(contentKey, bytes.slice(0, -64));
    expect(verify(device.dsk.publicKey, signature, "PX1 message-sig", signed)).toBe(true);
    const parsed = valueOf(parseInner(bytes));
    expect(parsed).toMatchObject(inner);
    expect(verifyInner(parsed, contentKey, device.dsk.publicKey)).toBe(true);
    expect(verifyInner(parsed, rng(32), device.dsk.publicKey)).toBe(false);
  });

  it("throws on a field of the wrong length: that is a bug of the caller", () => {
    const inner = innerOf(alice, bob, { messageId: u8(1) });
    expect(() => signInner(inner, contentKey, device.dsk.privateKey)).toThrow(/wrong length/);
  });
});

describe("R15: one copy each", () => {
  it("gives every device a header of its own and all of them one body", () => {
    const items = itemsOf(valueOf(sealUpload(requestOf(alice, bob), rng)).upload);
    const [first, second] = [at(items, 0), at(items, 1)];
    expect(first.slice(2, 1_178)).not.toEqual(second.slice(2, 1_178));
    expect(first.slice(1_178)).toEqual(second.slice(1_178));
  });
});
