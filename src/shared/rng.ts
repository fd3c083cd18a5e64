/**
 * Randomness as a port. `randombytes_buf` of libsodium costs 50–83 µs per 32 bytes in its
 * WebAssembly build; the platform's generator costs a fraction and is just as strong. Tests and
 * vectors pass a seeded one.
 */

/** Draws that many fresh random bytes. */
export type Rng = (bytes: number) => Uint8Array;

/** The platform's cryptographic generator. */
export const systemRng: Rng = (bytes) => crypto.getRandomValues(new Uint8Array(bytes));

/** A uniform number in [0, 1) with 32 bits of precision, for jitter and delays. */
export function randomFraction(rng: Rng): number {
  const word = rng(4);
  return new DataView(word.buffer, word.byteOffset, 4).getUint32(0) / 2 ** 32;
}
