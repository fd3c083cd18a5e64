/**
 * ChaCha20 and HChaCha20 in plain TypeScript: slow, readable, and no part of the product. Tests use
 * it to look inside XChaCha20-Poly1305, whose one-time Poly1305 key the library does not show.
 *
 * Spec: RFC 8439 §2.3 (block function), draft-irtf-cfrg-xchacha-03 §2.2 (HChaCha20).
 */
import { concat } from "../../src/shared/bytes.ts";

const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const columnsAndDiagonals = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** The first 32 bytes of the XChaCha20 keystream: the Poly1305 key r ‖ s of one encryption. */
export function polyKey(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const subkey = hChaCha20(key, nonce.subarray(0, 16));
  const inner = concat(new Uint8Array(4), nonce.subarray(16, 24));
  const state = initialState(subkey, concat(new Uint8Array(4), inner));
  const mixed = rounds(state);
  const words = mixed.map((word, i) => (word + (state[i] ?? 0)) >>> 0);
  return toBytes(words.slice(0, 8));
}

/** HChaCha20: a subkey of a key and 16 bytes. */
export function hChaCha20(key: Uint8Array, input: Uint8Array): Uint8Array {
  const mixed = rounds(initialState(key, input));
  return toBytes([...mixed.slice(0, 4), ...mixed.slice(12)]);
}

function initialState(key: Uint8Array, last: Uint8Array): number[] {
  return [...constants, ...toWords(key), ...toWords(last)];
}

function rounds(start: readonly number[]): number[] {
  const state = Uint32Array.from(start);
  for (let i = 0; i < 10; i++) {
    for (const [a, b, c, d] of columnsAndDiagonals) {
      mix(state, [a, b, d], 16);
      mix(state, [c, d, b], 12);
      mix(state, [a, b, d], 8);
      mix(state, [c, d, b], 7);
    }
  }
  return [...state];
}

/** x += y; z = (z ^ x) <<< bits. */
function mix(state: Uint32Array, at: readonly [number, number, number], bits: number): void {
  const [x, y, z] = at;
  state[x] = (state[x] ?? 0) + (state[y] ?? 0);
  const word = (state[z] ?? 0) ^ (state[x] ?? 0);
  state[z] = (word << bits) | (word >>> (32 - bits));
}

function toWords(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

function toBytes(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * words.length);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of words.entries()) view.setUint32(4 * i, word, true);
  return bytes;
}
