/**
 * Token buckets by key: how often one address may ask, how often one mailbox may be written to.
 *
 * Bound: `maxKeys` buckets. When a new key finds no room, the bucket that was used longest ago goes;
 * its key starts full again, which errs on the side of letting people in.
 */
import type { Clock } from "../../shared/clock.ts";

/** Takes one from the key's bucket. Returns 0, or how long to wait. Units: ms. */
export type RateLimit = (key: string) => number;

/** How a bucket fills. */
export interface RateLimitOptions {
  readonly perMinute: number;
  readonly maxKeys?: number;
  readonly clock: Clock;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const defaultMaxKeys = 50_000;

/** Builds a rate limit. A bucket holds one minute's worth. */
export function createRateLimit({
  perMinute,
  maxKeys = defaultMaxKeys,
  clock,
}: RateLimitOptions): RateLimit {
  const bucketByKey = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;
  return (key) => {
    const nowMs = clock.nowMs();
    const bucket = bucketByKey.get(key) ?? { tokens: perMinute, atMs: nowMs };
    // A map keeps insertion order: moving a used key to the end leaves the idlest one in front.
    bucketByKey.delete(key);
    if (bucketByKey.size >= maxKeys) evictIdlest(bucketByKey);
    bucketByKey.set(key, bucket);
    bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, nowMs - bucket.atMs) * perMs);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs);
    bucket.tokens -= 1;
    return 0;
  };
}

function evictIdlest(bucketByKey: Map<string, Bucket>): void {
  const idlest = bucketByKey.keys().next();
  if (idlest.done !== true) bucketByKey.delete(idlest.value);
}
