import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backOffMs, reconnectBounds } from "../../../src/device/transport/back-off.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const bounds = { baseMs: 1_000, capMs: 60_000 };
const fixed = (word: number) => () => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, word);
  return bytes;
};

describe("backOffMs", () => {
  it("stays below the doubling ceiling and below the cap", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(0xffffffff), (failures, word) => {
        const delay = backOffMs(failures, bounds, fixed(word));
        const ceiling = Math.min(bounds.capMs, bounds.baseMs * 2 ** (failures - 1));
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(ceiling);
      }),
    );
  });

  it("R40: after a long outage clients are spread over the whole cap, not lined up at it", () => {
    const rng = seededRng("outage");
    const delays = Array.from({ length: 2_000 }, () => backOffMs(50, reconnectBounds, rng));
    const buckets = Array.from({ length: 6 }, () => 0);
    for (const delay of delays) buckets[Math.floor(delay / 10_000)]! += 1;
    for (const count of buckets) {
      expect(count).toBeGreaterThan(250);
      expect(count).toBeLessThan(420);
    }
  });

  it("R40: the first retry is jittered too", () => {
    const rng = seededRng("first");
    const delays = new Set(Array.from({ length: 50 }, () => backOffMs(1, bounds, rng)));
    expect(delays.size).toBeGreaterThan(30);
    expect(Math.max(...delays)).toBeLessThan(1_000);
  });
});
