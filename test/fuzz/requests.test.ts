/** 30,000 JSON bodies that are almost right, at a running relay: answered in words, and not kept. */
import { expect, it } from "vitest";

import { bundleRequestOf, newAccount, registrationOf } from "../support/accounts.ts";
import {
  expectService,
  keptPerTime,
  nothingKept,
  startFuzzedRelay,
} from "../support/fuzzed-relay.ts";
import { createMutator } from "../support/mutations.ts";
import { createRawPoster } from "../support/raw-post.ts";

it("answers 30,000 requests, none of them as its own fault", { timeout: 180_000 }, async () => {
  await using fuzzed = await startFuzzedRelay();
  const { relay, bob, nowMs } = fuzzed;
  using poster = createRawPoster(relay.url);
  const mutator = createMutator("requests");
  const registration = JSON.stringify(registrationOf(newAccount(nowMs), relay.origin, nowMs));
  const bundle = JSON.stringify(bundleRequestOf(bob, { origin: relay.origin, nowMs }));
  const sound: readonly (readonly [string, string])[] = [
    ["/v1/accounts", registration],
    ["/v1/bundles", bundle],
    ["/v1/accounts/recover/begin", registration],
    ["/v1/accounts/recover", registration],
    ["/v1/accounts/renew", bundle],
  ];
  const faults: string[] = [];
  const kept = await keptPerTime(30_000, async () => {
    const [path, text] = mutator.pick(sound);
    const status = await poster.post(path, "application/json", mutator.text(text));
    if (status < 200 || status >= 500) faults.push(`${path}: ${status}`);
  });
  expect(faults).toEqual([]);
  expect(kept).toBeLessThan(nothingKept);
  await expectService(fuzzed);
});
