/**
 * The primitives that only a device needs: key encapsulation, authenticated encryption, key
 * derivation and padding. The relay has no import path to this file, so it holds nothing that
 * could open an envelope. Hash, signature and keyed authentication are in shared/crypto/sodium.
 *
 * Each function is one documented libsodium construction. What can fail on foreign bytes returns a
 * Result or undefined; a wrong length of our own throws, because that is a bug.
 *
 * Spec: docs/protocol.md "Shape" (X-Wing, XChaCha20-Poly1305, crypto_kdf, pad).
 */
import sodium from "libsodium-wrappers";
import { err, ok, type Result } from "../../shared/result.ts";

await sodium.ready;

/** Bytes of an X-Wing private key, which is its seed. */
export const xwingSeedBytes = 32;
/** Bytes of an X-Wing ciphertext. */
export const xwingCiphertextBytes = 1_120;
/** Random bytes of one encapsulation: ML-KEM message 32 ‖ X25519 scalar 32. */
export const encapsulationSeedBytes = 64;
/** Bytes that XChaCha20-Poly1305 adds. */
export const aeadTagBytes = 16;
/** Bytes of its nonce. */
export const aeadNonceBytes = 24;

/** What an encapsulation yields: the ciphertext to send and the secret to key with. */
export interface Encapsulation {
  readonly ciphertext: Uint8Array;
  readonly sharedSecret: Uint8Array;
}

/** Where an AEAD key and nonce are used, and what they bind. */
export interface AeadKey {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly additional: Uint8Array;
}

/** The X-Wing public key of a 32-byte seed. */
export function xwingPublicKey(seed: Uint8Array): Uint8Array {
  return sodium.crypto_kem_xwing_seed_keypair(seed).publicKey;
}

/**
 * Encapsulates to a public key. Units: `random` is 64 fresh bytes.
 *
 * Errors: `no-prekey` when the library refuses the key (low-order X25519 part, ML-KEM coefficients
 * out of range): the device counts as one without a prekey.
 */
export function encapsulate(
  publicKey: Uint8Array,
  random: Uint8Array,
): Result<Encapsulation, { readonly type: "no-prekey" }> {
  try {
    const { ciphertext, sharedSecret } = sodium.crypto_kem_xwing_enc_deterministic(
      publicKey,
      random,
    );
    return ok({ ciphertext, sharedSecret });
  } catch {
    return err({ type: "no-prekey" });
  }
}

/**
 * Recovers the shared secret. A foreign ciphertext of the right form yields an unrelated secret,
 * which the AEAD then rejects; only a low-order X25519 part is refused here, as `header`.
 */
export function decapsulate(
  ciphertext: Uint8Array,
  seed: Uint8Array,
): Result<Uint8Array, { readonly type: "header" }> {
  try {
    return ok(sodium.crypto_kem_xwing_dec(ciphertext, seed));
  } catch {
    return err({ type: "header" });
  }
}

/** XChaCha20-Poly1305: ciphertext ‖ tag 16. */
export function aeadSeal(plaintext: Uint8Array, { key, nonce, additional }: AeadKey): Uint8Array {
  return sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, additional, null, nonce, key);
}

/** Opens XChaCha20-Poly1305. Undefined when the tag does not verify. */
export function aeadOpen(
  ciphertext: Uint8Array,
  { key, nonce, additional }: AeadKey,
): Uint8Array | undefined {
  try {
    return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
      null,
      ciphertext,
      additional,
      nonce,
      key,
    );
  } catch {
    return undefined;
  }
}

/** One subkey to derive: crypto_kdf context of 8 characters, subkey id, size. */
export interface Subkey {
  readonly context: string;
  readonly id: number;
  readonly bytes: number;
}

/** crypto_kdf: a subkey of a 32-byte key. */
export function deriveKey(key: Uint8Array, { context, id, bytes }: Subkey): Uint8Array {
  return sodium.crypto_kdf_derive_from_key(bytes, id, context, key);
}

/**
 * Pads to one block of `blockBytes`: 0x80, then zeros. Throws when fewer than one byte is free: that
 * is a bug. The same bytes as the library's pad, which took 13 ms for the largest bucket against
 * 0.1 ms here; the length is no secret to whoever seals.
 */
export function pad(plaintext: Uint8Array, blockBytes: number): Uint8Array {
  if (plaintext.length >= blockBytes) {
    throw new RangeError(`${plaintext.length} bytes leave no room for padding in ${blockBytes}`);
  }
  const padded = new Uint8Array(blockBytes);
  padded.set(plaintext);
  padded[plaintext.length] = 0x80;
  return padded;
}

/** Takes padding off one block. Undefined when there is none, or a malformed one. */
export function unpad(block: Uint8Array): Uint8Array | undefined {
  try {
    return sodium.unpad(block, block.length);
  } catch {
    return undefined;
  }
}
