/**
 * A second, slow opening of one item, written from docs/protocol.md and sharing no code with the
 * device but X-Wing: BLAKE2b and HChaCha20 are plain TypeScript, the rest is node:crypto. It checks
 * bytes and signatures, not people; anything off throws.
 *
 * Kept equal to src/device/crypto by test/device/crypto/reference.test.ts.
 */
import {
  createDecipheriv,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from "node:crypto";
import sodium from "libsodium-wrappers";
import { referenceBlake2b, referenceKdf } from "./blake2b.ts";
import { hChaCha20 } from "./xchacha.ts";

const bucketSizes = [1_024, 4_096, 16_384, 65_536, 262_144];

/** Whose item it is. */
export interface ReferenceRecipient {
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly xwingSeed: Uint8Array;
}

/** What an item says. */
export interface ReferenceMessage {
  readonly contentKey: Uint8Array;
  readonly typeTag: number;
  readonly flags: number;
  readonly messageId: Uint8Array;
  readonly sentAtMs: bigint;
  readonly listVersion: number;
  readonly listHashPrefix: Uint8Array;
  readonly senderAik: Uint8Array;
  readonly content: Uint8Array;
}

/** Opens an item, or throws an error that names the step. */
export function referenceOpen(item: Uint8Array, me: ReferenceRecipient): ReferenceMessage {
  const bytes = Buffer.from(item);
  const bucket = bytes.readUInt8(1);
  const size = bucketSizes[bucket];
  if (bytes.readUInt8(0) !== 1 || size === undefined || bytes.length !== 2 + 1_176 + size + 48) {
    throw new Error("form");
  }
  const header = bytes.subarray(2, 1_178);
  const com = bytes.subarray(1_178, 1_210);
  const sealed = bytes.subarray(1_210);
  const kemCiphertext = header.subarray(8, 1_128);
  const ss = sodium.crypto_kem_xwing_dec(kemCiphertext, me.xwingSeed);
  const th = hash(
    label("PX1 header"),
    Buffer.from([1, bucket]),
    me.aik,
    me.deviceId,
    header.subarray(0, 8),
    kemCiphertext,
    com,
  );
  const prk = referenceBlake2b(Buffer.concat([label("PX1 header-prk"), th]), { size: 32, key: ss });
  const contentKey = xchachaOpen(header.subarray(1_128), {
    key: referenceKdf(prk, { context: "PX1-hdr_", id: 1, bytes: 32 }),
    nonce: referenceKdf(prk, { context: "PX1-hdr_", id: 2, bytes: 24 }),
    ad: th,
  });

  const ad = Buffer.concat([label("PX1 body"), me.aik, Buffer.from([1, bucket])]);
  const nonce = referenceKdf(contentKey, { context: "PX1-body", id: 3, bytes: 24 });
  const kc = referenceKdf(contentKey, { context: "PX1-body", id: 2, bytes: 32 });
  const mac = createHmac("sha512", kc).update(nonce).update(sealed.subarray(-16)).update(ad);
  if (!timingSafeEqual(mac.digest().subarray(0, 32), com)) throw new Error("commitment");
  const key = referenceKdf(contentKey, { context: "PX1-body", id: 1, bytes: 32 });
  const padded = xchachaOpen(sealed, { key, nonce, ad });
  return readPlaintext(unpad(padded), contentKey, me.aik);
}

function readPlaintext(
  plain: Buffer,
  contentKey: Uint8Array,
  recipientAik: Uint8Array,
): ReferenceMessage {
  const length = plain.readUInt32BE(228);
  if (plain.readUInt8(0) !== 1 || plain.length !== 296 + length) throw new Error("inner");
  if (!plain.subarray(28, 60).equals(recipientAik)) throw new Error("recipient");
  const certificate = plain.subarray(72, 228);
  const senderAik = certificate.subarray(0, 32);
  verified(senderAik, certificate.subarray(92), [
    label("PX1 device-cert"),
    certificate.subarray(0, 92),
  ]);
  verified(certificate.subarray(48, 80), plain.subarray(-64), [
    label("PX1 message-sig"),
    contentKey,
    plain.subarray(0, -64),
  ]);
  return {
    contentKey,
    typeTag: plain.readUInt8(1),
    flags: plain.readUInt16BE(2),
    messageId: plain.subarray(4, 20),
    sentAtMs: plain.readBigUInt64BE(20),
    listVersion: plain.readUInt32BE(60),
    listHashPrefix: plain.subarray(64, 72),
    senderAik,
    content: plain.subarray(232, 232 + length),
  };
}

function unpad(padded: Buffer): Buffer {
  let end = padded.length - 1;
  while (end >= 0 && padded[end] === 0) end -= 1;
  if (padded[end] !== 0x80) throw new Error("padding");
  return padded.subarray(0, end);
}

function xchachaOpen(
  sealed: Buffer,
  keys: { readonly key: Uint8Array; readonly nonce: Uint8Array; readonly ad: Uint8Array },
): Buffer {
  const subkey = hChaCha20(keys.key, keys.nonce.subarray(0, 16));
  const nonce = Buffer.concat([Buffer.alloc(4), keys.nonce.subarray(16)]);
  const decipher = createDecipheriv("chacha20-poly1305", subkey, nonce, { authTagLength: 16 });
  const plaintextLength = sealed.length - 16;
  decipher.setAAD(keys.ad, { plaintextLength });
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}

function hash(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.from(referenceBlake2b(Buffer.concat(parts), { size: 32 }));
}

function label(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc(16 - text.length)]);
}

function verified(
  publicKey: Uint8Array,
  signature: Uint8Array,
  parts: readonly Uint8Array[],
): void {
  if (!verify(null, Buffer.concat(parts), ed25519(publicKey), signature)) {
    throw new Error("signature");
  }
}

function ed25519(publicKey: Uint8Array): KeyObject {
  const prefix = Buffer.from("302a300506032b6570032100", "hex");
  return createPublicKey({
    key: Buffer.concat([prefix, publicKey]),
    format: "der",
    type: "spki",
  });
}
