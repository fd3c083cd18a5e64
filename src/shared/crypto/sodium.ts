/**
 * The primitives that both programs use: hash, signature, keyed authentication. Nothing here can
 * open an envelope; what can (X-Wing, XChaCha20-Poly1305, key derivation) lives with the device.
 *
 * The library is WebAssembly and must be ready before its first call: importing this module waits
 * for that, so everything built on it is synchronous.
 *
 * Spec: docs/protocol.md "Notation" (signatures). libsodium's verification is strict and cofactorless already
 * (canonical S, no small-order A or R), which is what the protocol asks for.
 */
import sodium from "libsodium-wrappers";
import { concat, label16 } from "../bytes.ts";
import type { Rng } from "../rng.ts";

await sodium.ready;

/** An Ed25519 key pair: public 32 bytes, private 64 bytes (seed ‖ public). */
export interface SigningKeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** Bytes of an Ed25519 signature. */
export const signatureBytes = 64;

/** BLAKE2b over the concatenated parts. Units: `size` in bytes (32 for BLAKE2b-256). */
export function blake2b(size: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return sodium.crypto_generichash(size, joined(parts), null);
}

/** BLAKE2b keyed with `key`. Units: `size` in bytes. */
export function keyedBlake2b(
  size: number,
  key: Uint8Array,
  ...parts: readonly Uint8Array[]
): Uint8Array {
  return sodium.crypto_generichash(size, concat(...parts), key);
}

/** The Ed25519 key pair of a 32-byte seed. */
export function signingKeyPair(seed: Uint8Array): SigningKeyPair {
  const { publicKey, privateKey } = sodium.crypto_sign_seed_keypair(seed);
  return { publicKey, privateKey };
}

/** Draws a seed and returns it with its key pair. */
export function newSigningKey(rng: Rng): SigningKeyPair & { readonly seed: Uint8Array } {
  const seed = rng(32);
  return { seed, ...signingKeyPair(seed) };
}

/** Ed25519 over `label16 ‖ parts`. */
export function sign(
  privateKey: Uint8Array,
  label: string,
  ...parts: readonly Uint8Array[]
): Uint8Array {
  return sodium.crypto_sign_detached(concat(label16(label), ...parts), privateKey);
}

/** Verifies Ed25519 over `label16 ‖ parts`, strictly. Malformed keys and signatures are false. */
export function verify(
  publicKey: Uint8Array,
  signature: Uint8Array,
  label: string,
  ...parts: readonly Uint8Array[]
): boolean {
  if (publicKey.length !== 32 || signature.length !== signatureBytes) return false;
  return sodium.crypto_sign_verify_detached(signature, concat(label16(label), ...parts), publicKey);
}

/** crypto_auth (HMAC-SHA-512-256) of the concatenated parts. Key and tag are 32 bytes. */
export function authenticate(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  return sodium.crypto_auth(concat(...parts), key);
}

/** Verifies a crypto_auth tag in constant time. */
export function verifyAuthentication(
  key: Uint8Array,
  tag: Uint8Array,
  ...parts: readonly Uint8Array[]
): boolean {
  return tag.length === 32 && sodium.crypto_auth_verify(tag, joined(parts), key);
}

// One part, which is what the relay hashes for every upload, is passed on uncopied.
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : concat(...parts);
}

/** Overwrites key material that is no longer needed. */
export function wipe(bytes: Uint8Array): void {
  sodium.memzero(bytes);
}
