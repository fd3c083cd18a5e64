/** 40,000 uploads that are almost right, at a running relay: refused, and nothing of them kept. */
import { expect, it } from "vitest";

import {
  expectService,
  keptPerTime,
  nothingKept,
  soundUpload,
  startFuzzedRelay,
} from "../support/fuzzed-relay.ts";
import { createMutator } from "../support/mutations.ts";
import { createRawPoster } from "../support/raw-post.ts";

it("refuses 40,000 uploads and stores none", { timeout: 180_000 }, async () => {
  await using fuzzed = await startFuzzedRelay();
  using poster = createRawPoster(fuzzed.relay.url);
  const mutator = createMutator("uploads");
  const sound = soundUpload(fuzzed);
  const statuses = new Set<number>();
  const kept = await keptPerTime(40_000, async () => {
    const bytes = mutator.bytes(sound);
    statuses.add(await poster.post("/v1/envelopes", "application/octet-stream", bytes));
  });
  expect(statuses).toEqual(new Set([400, 401]));
  expect(await fuzzed.db.sql`select slot from item`).toHaveLength(0);
  expect(kept).toBeLessThan(nothingKept);
  await expectService(fuzzed);
});
