/**
 * Ten rounds of faults on every store, with an independent check of what was promised. A hundred are
 * `npm run faults`.
 */
import { expect, inject, it } from "vitest";

import { type FaultPlan, runFaults } from "./rounds.ts";

const bound = { seed: 7, boundMs: 60_000 };
const hasExternal = inject("testStoreNames").includes("external");

async function expectNoViolation(plan: FaultPlan): Promise<void> {
  const outcome = await runFaults(plan);
  // The run ends by printing which stores it covered.
  if (outcome === undefined) return expect(hasExternal).toBe(false);
  expect(outcome.violations).toEqual([]);
  expect(outcome.rounds).toBeGreaterThan(0);
  expect(outcome.accepted).toBeGreaterThan(outcome.rounds);
}

it("R1, R5, R9, R17, R23, R27: a relay and its own database killed under load lose nothing", async () => {
  const faults = ["kill-relay", "kill-database"] as const;
  await expectNoViolation({ store: "embedded", relays: 1, faults, rounds: 10, ...bound });
}, 180_000);

it("R1, R5, R22: a relay, its external database and its backends killed under load lose nothing", async () => {
  const faults = ["kill-database", "kill-relay", "kill-backends"] as const;
  await expectNoViolation({ store: "external", relays: 1, faults, rounds: 10, ...bound });
}, 180_000);

it("R5, R41: two relays on one database, restarted in turn while devices go from one to the other", async () => {
  const faults = ["restart-relays", "kill-relay"] as const;
  await expectNoViolation({ store: "external", relays: 2, faults, rounds: 4, ...bound });
}, 180_000);
