/**
 * Randomness for tests and vectors: one seed, one stream of bytes, for ever the same. Not secure,
 * and not meant to be.
 *
 * Byte i of the stream is byte i mod 64 of BLAKE2b-512(`pixie rng` as a 16-byte label ‖ seed in
 * UTF-8 ‖ u64 block), block = floor(i / 64): any implementation can reproduce it.
 */
import { label16, u64, utf8 } from "../../src/shared/bytes.ts";
import { blake2b } from "../../src/shared/crypto/sodium.ts";
import type { Rng } from "../../src/shared/rng.ts";

/** A generator that draws the stream of `seed` from its start. */
export function seededRng(seed: string): Rng {
  let block = new Uint8Array(0);
  let nextBlock = 0n;
  let offset = 0;
  return (length) => {
    const drawn = new Uint8Array(length);
    for (let filled = 0; filled < length;) {
      if (offset === block.length) {
        block = Uint8Array.from(blake2b(64, label16("pixie rng"), utf8(seed), u64(nextBlock)));
        nextBlock += 1n;
        offset = 0;
      }
      const part = block.subarray(offset, offset + length - filled);
      drawn.set(part, filled);
      filled += part.length;
      offset += part.length;
    }
    return drawn;
  };
}
