/**
 * Where the weights lie that tests, benchmarks and evaluations use: a folder of the person who runs
 * them, shared by all checkouts. A device's own models are elsewhere and none of this.
 */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

import { catalogueEntry } from "../../src/device/weights/catalogue.ts";

/** The models that `npm run models` brings when it is given no names. */
export const cachedModels = ["minilm", "smollm2", "qwen-coder-1.5b"] as const;

/** The folder: PIXIE_MODEL_CACHE, else `pixie/models` below XDG_CACHE_HOME, else below ~/.cache. */
export function modelCache(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const own = env["PIXIE_MODEL_CACHE"];
  if (own !== undefined && own !== "") return path.resolve(own);
  const xdg = env["XDG_CACHE_HOME"];
  const base = xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(homedir(), ".cache");
  return path.join(base, "pixie", "models");
}

/** The file of a cached model; `undefined` where it was not fetched. Errors: no such model, a bug. */
export function cachedModel(name: (typeof cachedModels)[number]): string | undefined {
  const entry = catalogueEntry(name);
  if (entry === undefined) throw new Error(`${name} is not in the catalogue`);
  const file = path.join(modelCache(), entry.file);
  return existsSync(file) && statSync(file).size === entry.bytes ? file : undefined;
}
