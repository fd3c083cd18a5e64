/**
 * `npm run faults`: a hundred rounds of faults on each store, within a bound, and a line of JSON for
 * each plan. Ends with 1 when a promise was broken.
 *
 *     npm run faults -- [--rounds N] [--seed N] [--bound-s N] [--only NAME]
 */
import { parseArgs } from "node:util";

import { type FaultPlan, runFaults } from "./rounds.ts";

type NamedPlan = Pick<FaultPlan, "store" | "relays" | "faults"> & { readonly name: string };

const plans: readonly NamedPlan[] = [
  { name: "embedded", store: "embedded", relays: 1, faults: ["kill-relay", "kill-database"] },
  {
    name: "external",
    store: "external",
    relays: 1,
    faults: ["kill-relay", "kill-database", "kill-backends"],
  },
  {
    name: "two-relays",
    store: "external",
    relays: 2,
    faults: ["restart-relays", "kill-relay", "kill-backends"],
  },
];

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    "bound-s": { type: "string", default: "240" },
    only: { type: "string" },
  },
});

let broken = false;
for (const { name, ...plan } of plans.filter(
  (each) => values.only === undefined || each.name === values.only,
)) {
  const began = performance.now();
  const outcome = await runFaults({
    ...plan,
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    boundMs: Number(values["bound-s"]) * 1_000,
    onRound: (round, fault) => process.stderr.write(`${name} ${round} ${fault}\n`),
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  const told = outcome ?? { missing: "no installed Postgres was found" };
  process.stdout.write(
    `${JSON.stringify({ plan: name, seed: Number(values.seed), seconds, ...told })}\n`,
  );
  broken ||= (outcome?.violations.length ?? 0) > 0;
}
process.exitCode = broken ? 1 : 0;
