/**
 * BLAKE2b in plain TypeScript with key, salt and personalisation: the slow twin of what libsodium
 * calls crypto_generichash and crypto_kdf.
 *
 * Spec: RFC 7693; libsodium's crypto_kdf (salt = subkey id as u64 little-endian, personal = context).
 */
import { concat, utf8 } from "../../src/shared/bytes.ts";

const mask = 2n ** 64n - 1n;
const iv = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const;
const sigma = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const lanes = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** What a digest may be parametrised with. */
export interface Blake2bOptions {
  readonly size: number;
  readonly key?: Uint8Array;
  /** 16 bytes. */
  readonly salt?: Uint8Array;
  /** 16 bytes. */
  readonly personal?: Uint8Array;
}

/** BLAKE2b of one message. */
export function referenceBlake2b(message: Uint8Array, options: Blake2bOptions): Uint8Array {
  const { size, key = new Uint8Array(0) } = options;
  const empty = new Uint8Array(16);
  const parameters = concat(
    Uint8Array.of(size, key.length, 1, 1),
    new Uint8Array(28),
    options.salt ?? empty,
    options.personal ?? empty,
  );
  const h = toWords(parameters).map((start, i) => start ^ (iv[i] ?? 0n));
  const keyBlock = key.length === 0 ? key : concat(key, new Uint8Array(128 - key.length));
  const input = concat(keyBlock, message);
  const blocks = Math.max(1, Math.ceil(input.length / 128));
  for (let i = 0; i < blocks; i++) {
    const block = new Uint8Array(128);
    block.set(input.subarray(128 * i, 128 * i + 128));
    const last = i === blocks - 1;
    compress(h, toWords(block), { count: BigInt(last ? input.length : 128 * (i + 1)), last });
  }
  return toBytes(h).slice(0, size);
}

/** crypto_kdf: a subkey by id and context. */
export function referenceKdf(
  key: Uint8Array,
  subkey: { readonly context: string; readonly id: number; readonly bytes: number },
): Uint8Array {
  const salt = new Uint8Array(16);
  salt[0] = subkey.id;
  const personal = concat(utf8(subkey.context), new Uint8Array(8));
  return referenceBlake2b(new Uint8Array(0), { size: subkey.bytes, key, salt, personal });
}

function compress(
  h: bigint[],
  m: readonly bigint[],
  at: { readonly count: bigint; readonly last: boolean },
): void {
  const v = [...h, ...iv];
  v[12] = word(v, 12) ^ at.count;
  if (at.last) v[14] = word(v, 14) ^ mask;
  for (let round = 0; round < 12; round++) {
    const order = sigma[round % 10] ?? [];
    for (const [i, lane] of lanes.entries()) {
      mix(v, lane, [word(m, order[2 * i]), word(m, order[2 * i + 1])]);
    }
  }
  for (const [i, before] of h.entries()) h[i] = before ^ word(v, i) ^ word(v, i + 8);
}

function word(words: readonly bigint[], index: number | undefined): bigint {
  return words[index ?? 0] ?? 0n;
}

function mix(
  v: bigint[],
  [a, b, c, d]: readonly [number, number, number, number],
  [x, y]: readonly [bigint, bigint],
): void {
  for (const [input, first, second] of [
    [x, 32n, 24n],
    [y, 16n, 63n],
  ] as const) {
    v[a] = (word(v, a) + word(v, b) + input) & mask;
    v[d] = rotate(word(v, d) ^ word(v, a), first);
    v[c] = (word(v, c) + word(v, d)) & mask;
    v[b] = rotate(word(v, b) ^ word(v, c), second);
  }
}

function rotate(input: bigint, bits: bigint): bigint {
  return ((input >> bits) | (input << (64n - bits))) & mask;
}

function toWords(bytes: Uint8Array): bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getBigUint64(8 * i, true));
}

function toBytes(words: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(8 * words.length);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of words.entries()) view.setBigUint64(8 * i, value, true);
  return bytes;
}
