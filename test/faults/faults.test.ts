/**
 * Ten rounds of faults on every store, with an independent check of what was promised. A hundred are
 * `npm run faults`.
 */
import { expect, inject, it } from "vitest";

import { type FaultPlan, runFaults } from "./rounds.ts";

const bound = { seed: 7, boundMs: 15_000 };
const hasExternal = inject("testStoreNames").includes("external");

/** Runs a plan; undefined where this machine has no such store, which the run ends by printing. */
async function ranCleanly(plan: FaultPlan): Promise<boolean> {
  const outcome = await runFaults(plan);
  if (outcome === undefined) return !hasExternal;
  const { violations, rounds, accepted } = outcome;
  if (violations.length > 0) throw new Error(violations.slice(0, 10).join("\n"));
  return rounds > 0 && accepted > 0;
}

it("R1, R5, R9, R17, R23, R27: a relay and its own database killed under load lose nothing", async () => {
  const faults = ["kill-relay", "kill-database"] as const;
  expect(await ranCleanly({ store: "embedded", relays: 1, faults, rounds: 10, ...bound })).toBe(
    true,
  );
}, 240_000);

it("R1, R5, R22: a relay, its external database and its backends killed under load lose nothing", async () => {
  const faults = ["kill-database", "kill-relay", "kill-backends"] as const;
  expect(await ranCleanly({ store: "external", relays: 1, faults, rounds: 10, ...bound })).toBe(
    true,
  );
}, 240_000);

it("R5, R41: two relays on one database, restarted in turn while devices go from one to the other", async () => {
  const faults = ["restart-relays", "kill-relay"] as const;
  expect(await ranCleanly({ store: "external", relays: 2, faults, rounds: 4, ...bound })).toBe(
    true,
  );
}, 240_000);
