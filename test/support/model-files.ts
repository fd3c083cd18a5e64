/**
 * Real weights for tests that want them: where they lie, or nothing where they were not fetched. A
 * test that goes without them notes it here, and the run ends by saying what it left out.
 *
 * `npm run models` fetches them; in CI nothing is left out. Generated models need none of this.
 */
import { inject } from "vitest";

import { cachedModel, type cachedModels } from "../../scripts/models/cache.ts";

/** A model of the cache. */
export type CachedModelName = (typeof cachedModels)[number];

/** The file of a model, or `undefined`; then `left` names what this run leaves out. */
export async function modelFile(name: CachedModelName, left: string): Promise<string | undefined> {
  const file = cachedModel(name);
  const note = file === undefined ? `left-out/${left} (needs ${name})` : `used/${name}`;
  await fetch(new URL(`/models/${note}`, inject("testStoreBroker")), { method: "POST" });
  return file;
}
