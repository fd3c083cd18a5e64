/**
 * How long to wait before trying a relay again: the exponential cap first, then full jitter, the
 * first retry included. Jitter that is applied before the cap would line every client up at the cap
 * after a long outage, and they would all return in the same second.
 *
 * Pure. Who waits, and what counts as a failure, is the caller's.
 */
import { type Rng, randomFraction } from "../../shared/rng.ts";

/** Bounds of one back-off. Units: ms. */
export interface BackOffBounds {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Bounds of reconnecting a mailbox: a relay that restarts is found again within a minute. */
export const reconnectBounds: BackOffBounds = { baseMs: 1_000, capMs: 60_000 };

// 2^53 leaves the exact integers; every cap in use is far below it.
const maxExponent = 40;

/**
 * Delay before the next try. `failures` counts tries that failed in a row, 1 after the first.
 * Units: ms, uniform in [0, min(cap, base · 2^(failures − 1))).
 */
export function backOffMs(failures: number, bounds: BackOffBounds, rng: Rng): number {
  const exponent = Math.min(Math.max(0, failures - 1), maxExponent);
  const ceilingMs = Math.min(bounds.capMs, bounds.baseMs * 2 ** exponent);
  return Math.floor(randomFraction(rng) * ceilingMs);
}
