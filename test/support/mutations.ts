/**
 * Bytes and texts that are almost right: seeded, so that a run is the same run everywhere, and fast
 * enough for tens of thousands.
 */
import { seededRng } from "./seeded-rng.ts";

/** Makes changed copies; the same seed makes the same ones. */
export interface Mutator {
  /** A whole number below `limit`. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
  /** A copy that differs from what it is given, and is seldom longer. */
  readonly bytes: (sound: Uint8Array) => Uint8Array;
  /** The same for text, as its UTF-8 bytes: the outcome need not be UTF-8. */
  readonly text: (sound: string) => Uint8Array;
}

/** Builds one from a seed. */
export function createMutator(seed: string): Mutator {
  const [a = 0, b = 0, c = 0, d = 0] = seededRng(seed)(4);
  let state = (a << 24) | (b << 16) | (c << 8) | d || 1;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const bytes = (sound: Uint8Array): Uint8Array => {
    for (;;) {
      const changed = change(sound, below);
      if (Buffer.compare(changed, sound) !== 0) return changed;
    }
  };
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  return { below, pick, bytes, text: (sound) => bytes(Buffer.from(sound, "utf8")) };
}

/** Values that lengths, counts and text have trouble with. */
const awkward = [0x00, 0x01, 0x22, 0x5b, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xed, 0xfe, 0xff];

function change(sound: Uint8Array, below: (limit: number) => number): Uint8Array {
  const kind = below(6);
  if (kind === 0) return sound.subarray(0, below(sound.length));
  if (kind === 1) return Buffer.concat([sound, sound.subarray(0, 1 + below(40))]);
  if (kind === 2) return Uint8Array.from({ length: below(300) }, () => below(256));
  if (kind === 3) {
    const from = below(sound.length);
    return Buffer.concat([sound.subarray(0, from), sound.subarray(from + 1 + below(8))]);
  }
  const changed = Uint8Array.from(sound);
  for (let edits = 1 + below(4); edits > 0; edits -= 1) {
    // Half of the edits go where a record keeps its kinds, counts and lengths.
    const at = below(kind === 4 ? Math.min(96, sound.length) : sound.length);
    changed[at] = below(2) === 0 ? below(256) : (awkward[below(awkward.length)] ?? 0);
  }
  return changed;
}
