/**
 * What sealing and opening must compute alike: the keys of a body and of a header, and the bytes
 * that each binds. One place, so that the two directions cannot drift.
 *
 * Spec: docs/protocol.md "Envelopes" (body and header).
 */
import { concat, label16, u8 } from "../../shared/bytes.ts";
import { authenticate, blake2b, keyedBlake2b } from "../../shared/crypto/sodium.ts";
import { protocolVersion } from "../../shared/limits.ts";
import { type AeadKey, aeadNonceBytes, aeadTagBytes, deriveKey } from "./primitives.ts";

/** Bytes of a content key. */
export const contentKeyBytes = 32;
/** Bytes of the commitment that starts a body. */
export const commitmentBytes = 32;
/** Bytes of a prekey id in a header. */
export const prekeyIdBytes = 8;

/** The keys that a content key stands for. */
export interface BodyKeys extends AeadKey {
  readonly commitmentKey: Uint8Array;
}

/** Derives the body's keys for a recipient account and a bucket. */
export function bodyKeys(contentKey: Uint8Array, aik: Uint8Array, bucket: number): BodyKeys {
  const context = "PX1-body";
  return {
    key: deriveKey(contentKey, { context, id: 1, bytes: 32 }),
    nonce: deriveKey(contentKey, { context, id: 3, bytes: aeadNonceBytes }),
    commitmentKey: deriveKey(contentKey, { context, id: 2, bytes: 32 }),
    additional: concat(label16("PX1 body"), aik, u8(protocolVersion), u8(bucket)),
  };
}

/** The bytes that a commitment authenticates. `sealed` is ciphertext ‖ tag. */
export function commitmentInput(keys: BodyKeys, sealed: Uint8Array): Uint8Array {
  return concat(keys.nonce, sealed.subarray(sealed.length - aeadTagBytes), keys.additional);
}

/**
 * The commitment: it ties a body to one content key. XChaCha20-Poly1305 alone does not, so that
 * one ciphertext could say different things to two devices.
 */
export function commitment(keys: BodyKeys, sealed: Uint8Array): Uint8Array {
  return authenticate(keys.commitmentKey, commitmentInput(keys, sealed));
}

/** What a header is bound to. */
export interface HeaderBinding {
  readonly bucket: number;
  /** Identity key of the recipient account, as the prekey was signed under. */
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly prekeyId: Uint8Array;
  readonly kemCiphertext: Uint8Array;
  readonly commitment: Uint8Array;
}

/** Derives the key under which a header seals the content key. */
export function headerKey(sharedSecret: Uint8Array, binding: HeaderBinding): AeadKey {
  const transcript = blake2b(
    32,
    label16("PX1 header"),
    u8(protocolVersion),
    u8(binding.bucket),
    binding.aik,
    binding.deviceId,
    binding.prekeyId,
    binding.kemCiphertext,
    binding.commitment,
  );
  const prk = keyedBlake2b(32, sharedSecret, label16("PX1 header-prk"), transcript);
  const context = "PX1-hdr_";
  return {
    key: deriveKey(prk, { context, id: 1, bytes: 32 }),
    nonce: deriveKey(prk, { context, id: 2, bytes: aeadNonceBytes }),
    additional: transcript,
  };
}
