/**
 * Builds one body that XChaCha20-Poly1305 accepts under two content keys. Poly1305 is linear, so
 * one free block suffices; only the commitment in front of the body tells the keys apart.
 *
 * The commitment is made with the first key: a device that is handed the second must refuse.
 */
import { concat } from "../../src/shared/bytes.ts";
import type { Rng } from "../../src/shared/rng.ts";
import { bodyKeys, commitment } from "../../src/device/crypto/envelope-keys.ts";
import { polyKey } from "./xchacha.ts";

const prime = 2n ** 130n - 5n;
const block = 2n ** 128n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const plaintextBytes = 1_024;
const freeBlock = 20;

export interface TwoKeyBody {
  readonly contentKeys: readonly [Uint8Array, Uint8Array];
  readonly body: Uint8Array;
}

/** Draws keys and ciphertexts until one fits both. */
export function twoKeyBody(aik: Uint8Array, rng: Rng): TwoKeyBody {
  for (;;) {
    const made = attempt(aik, [rng(32), rng(32)], rng(plaintextBytes));
    if (made !== undefined) return made;
  }
}

function attempt(
  aik: Uint8Array,
  contentKeys: readonly [Uint8Array, Uint8Array],
  ciphertext: Uint8Array,
): TwoKeyBody | undefined {
  const keys = contentKeys.map((key) => bodyKeys(key, aik, 0));
  const additional = keys[0]?.additional ?? new Uint8Array(0);
  ciphertext.fill(0, 16 * freeBlock, 16 * freeBlock + 16);
  const padded = concat(additional, new Uint8Array((16 - (additional.length % 16)) % 16));
  const lengths = concat(le(BigInt(additional.length), 8), le(BigInt(plaintextBytes), 8));
  const blocks = [padded, ciphertext, lengths].flatMap(blocksOf);
  const free = padded.length / 16 + freeBlock;
  const [a, b] = keys.map(({ key, nonce }) => {
    const stream = polyKey(key, nonce);
    const r = fromLe(stream.subarray(0, 16)) & clamp;
    const others = blocks.reduce((sum, value, i) => {
      return i === free ? sum : sum + value * power(r, BigInt(blocks.length - i));
    }, 0n);
    return {
      s: fromLe(stream.subarray(16)),
      others: modulo(others),
      factor: power(r, BigInt(blocks.length - free)),
    };
  });
  if (a === undefined || b === undefined) return undefined;
  const inverse = power(modulo(a.factor - b.factor), prime - 2n);
  for (let carry = -4n; carry <= 4n; carry++) {
    const value = modulo((b.others - a.others + b.s - a.s + carry * block) * inverse) - block;
    if (value < 0n || value >= block) continue;
    const tags = [a, b].map(
      (key) => (modulo(key.others + (value + block) * key.factor) + key.s) % block,
    );
    if (tags[0] === undefined || tags[0] !== tags[1] || keys[0] === undefined) continue;
    const fitted = ciphertext.slice();
    fitted.set(le(value, 16), 16 * freeBlock);
    const sealed = concat(fitted, le(tags[0], 16));
    return { contentKeys, body: concat(commitment(keys[0], sealed), sealed) };
  }
  return undefined;
}

function blocksOf(bytes: Uint8Array): bigint[] {
  return Array.from(
    { length: bytes.length / 16 },
    (_, i) => fromLe(bytes.subarray(16 * i, 16 * i + 16)) + block,
  );
}

function modulo(value: bigint): bigint {
  return ((value % prime) + prime) % prime;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = modulo(base), rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}

function le(value: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

function fromLe(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
