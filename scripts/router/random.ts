/**
 * Seeded randomness for training: the same seed gives the same weights on every machine. Not secure.
 */

/** A seeded generator. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;
  readonly normal: () => number;
  readonly pick: <T>(items: readonly T[]) => T;
  readonly shuffled: <T>(items: readonly T[]) => T[];
}

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(next() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  return {
    next,
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick,
    shuffled: (items) => {
      const copy = [...items];
      for (let at = copy.length - 1; at > 0; at -= 1) {
        const other = Math.floor(next() * (at + 1));
        const [a, b] = [copy[at], copy[other]];
        if (a !== undefined && b !== undefined) [copy[at], copy[other]] = [b, a];
      }
      return copy;
    },
  };
}
