/** The slow twin opens what the device seals; its own primitives answer published test vectors. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalBytes, utf8 } from "../../../src/shared/bytes.ts";
import { blake2b, keyedBlake2b } from "../../../src/shared/crypto/sodium.ts";
import { bodyKeys, commitmentInput } from "../../../src/device/crypto/envelope-keys.ts";
import { openItem } from "../../../src/device/crypto/open.ts";
import { aeadOpen, deriveKey } from "../../../src/device/crypto/primitives.ts";
import { sealHeader, sealUpload } from "../../../src/device/crypto/seal.ts";
import { verifyAuthentication } from "../../../src/shared/crypto/sodium.ts";
import { encodeItem } from "../../../src/shared/wire/envelope.ts";
import { referenceBlake2b, referenceKdf } from "../../reference/blake2b.ts";
import { referenceOpen } from "../../reference/open-item.ts";
import { twoKeyBody } from "../../reference/two-key-body.ts";
import { hChaCha20 } from "../../reference/xchacha.ts";
import {
  at,
  createPerson,
  failureOf,
  itemsOf,
  knowing,
  openerOf,
  requestOf,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("reference");
const alice = createPerson(rng);
const bob = createPerson(rng, 2);

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replace(/[^0-9a-f]/g, ""), "hex"));
}

describe("reference primitives", () => {
  it("computes BLAKE2b like the platform and the library", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
        const platform = createHash("blake2b512").update(message).digest();
        expect(Buffer.from(referenceBlake2b(message, { size: 64 })).equals(platform)).toBe(true);
        expect(blake2b(32, message)).toEqual(referenceBlake2b(message, { size: 32 }));
        const key = blake2b(32, message);
        expect(keyedBlake2b(32, key, message)).toEqual(
          referenceBlake2b(message, { size: 32, key }),
        );
        const subkey = { context: "PX1-body", id: 3, bytes: 24 };
        expect(deriveKey(key, subkey)).toEqual(referenceKdf(key, subkey));
      }),
      { numRuns: 30 },
    );
  });

  it("computes HChaCha20 as in draft-irtf-cfrg-xchacha-03 §2.2.1", () => {
    const key = Uint8Array.from({ length: 32 }, (_, i) => i);
    const input = hex("000000090000004a0000000031415927");
    expect(hChaCha20(key, input)).toEqual(
      hex("82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"),
    );
  });
});

describe("the reference opens what the device seals", () => {
  it.each([
    ["an empty text", ""],
    ["NUL, a byte order mark and an emoji", "\0\ufeff\u{1f600}"],
    ["a full smallest bucket", "x".repeat(695)],
    ["the next one", "x".repeat(696)],
    ["a full second bucket", "x".repeat(3_767)],
  ])("%s, on both devices", (_name, text) => {
    const content = utf8(text);
    const request = requestOf(alice, bob, { content, flags: 0 });
    const items = itemsOf(valueOf(sealUpload(request, rng)).upload);
    for (const [index, item] of items.entries()) {
      const device = at(bob.devices, index);
      const read = referenceOpen(item, {
        aik: bob.aik.publicKey,
        deviceId: device.deviceId,
        xwingSeed: device.xwingSeed,
      });
      const opened = valueOf(openItem(item, openerOf(bob, index), knowing(alice, "contact")));
      expect(equalBytes(read.content, content)).toBe(true);
      expect(equalBytes(opened.content, content)).toBe(true);
      expect(read.typeTag).toBe(0);
      expect(read.sentAtMs).toBe(request.message.sentAtMs);
      expect(read.listVersion).toBe(1);
      expect(equalBytes(read.listHashPrefix, bob.list.hash.slice(0, 8))).toBe(true);
      expect(equalBytes(read.senderAik, alice.aik.publicKey)).toBe(true);
      expect(equalBytes(read.messageId, opened.messageId)).toBe(true);
    }
  });
});

describe("a ciphertext that is valid under two keys", () => {
  const { body, contentKeys } = twoKeyBody(bob.aik.publicKey, rng);
  const itemWith = (contentKey: Uint8Array, index: number): Uint8Array => {
    const { deviceId, prekey } = at(bob.devices, index);
    const header = sealHeader(
      contentKey,
      {
        aik: bob.aik.publicKey,
        deviceId,
        prekey,
        bucket: 0,
        commitment: body.subarray(0, 32),
      },
      rng(64),
    );
    return encodeItem({ bucket: 0, header: valueOf(header), body });
  };

  it("exists: bare XChaCha20-Poly1305 opens it with either", () => {
    for (const key of contentKeys) {
      expect(aeadOpen(body.subarray(32), bodyKeys(key, bob.aik.publicKey, 0))).toHaveLength(1_024);
    }
  });

  it("passes the commitment with one key and no other", () => {
    const passes = contentKeys.map((key) => {
      const keys = bodyKeys(key, bob.aik.publicKey, 0);
      const input = commitmentInput(keys, body.subarray(32));
      return verifyAuthentication(keys.commitmentKey, body.subarray(0, 32), input);
    });
    expect(passes).toEqual([true, false]);
  });

  it("is refused by the device that is handed the second key", () => {
    const context = knowing(alice, "contact");
    const first = openItem(itemWith(contentKeys[0], 0), openerOf(bob, 0), context);
    const second = openItem(itemWith(contentKeys[1], 1), openerOf(bob, 1), context);
    // What the first key opens is noise, so it fails later, as padding or as an inner version.
    expect(["padding", "inner-version"]).toContain(failureOf(first));
    expect(failureOf(second)).toBe("commitment");
  });
});
