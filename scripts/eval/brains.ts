/**
 * The brains that evaluations can name: `basic`, and every model of the cache that generates text, in
 * its engine with the router that narrows its plans.
 *
 * A model that was not fetched is refused with how to fetch it, never replaced by another.
 */
import { createBasicBrain } from "../../src/device/agent/basic-brain.ts";
import { openLlamaModel } from "../../src/device/model/llama/llama-model.ts";
import type { Model } from "../../src/device/model/port.ts";
import { narrowed } from "../../src/device/router/narrow.ts";
import { loadStaticRouter } from "../../src/device/router/static.ts";
import { hashOf } from "../../src/device/weights/file-hash.ts";
import { cachedModel } from "../models/cache.ts";
import { openMeaningRouter } from "./routers.ts";

/** A brain that is being evaluated. */
export interface EvaluatedBrain {
  readonly model: Model;
  /** SHA-256 of its file; null: it has none. */
  readonly hash: string | null;
}

/** Handles that a plan may name: small models plan badly before a whole menu. */
const narrowTo = 3;
const generating = ["qwen-coder-1.5b", "smollm2"] as const;

/** Names that can be given. */
const brainNames: readonly string[] = ["basic", ...generating];

/** SHA-256 of a brain's file; null: it has none. Throws like `openBrain`. */
export async function brainHash(name: string): Promise<string | null> {
  const file = brainFile(name);
  return file === null ? null : await hashOf(file, new AbortController().signal);
}

/** The file of a brain; null for the one that has none. Throws when it cannot be had. */
function brainFile(name: string): string | null {
  if (name === "basic") return null;
  const known = generating.find((one) => one === name);
  if (known === undefined) {
    throw new Error(`there is no brain ${name}: expected ${brainNames.join(", ")}`);
  }
  const file = cachedModel(known);
  if (file === undefined) throw new Error(`${name} was not fetched: npm run models ${name}`);
  return file;
}

/** Opens a brain by name. Throws, with what to do, when it cannot be had. */
export async function openBrain(
  name: string,
  threads: number | undefined,
): Promise<EvaluatedBrain> {
  const file = brainFile(name);
  if (file === null) return { model: createBasicBrain(await loadStaticRouter()), hash: null };
  const routing = await openMeaningRouter(threads);
  const { router } = routing;
  const opened = await openLlamaModel({
    file,
    name,
    guided: true,
    narrow: async ({ question, menu }, signal) => {
      const ranking = await router.rank(question, menu, signal);
      return ranking.type === "failed" ? ranking : narrowed(ranking, { menu, count: narrowTo });
    },
    ...(threads === undefined ? {} : { threads }),
  });
  if (!opened.ok) throw new Error(opened.error.reason);
  const model: Model = {
    ...opened.value,
    [Symbol.asyncDispose]: async () => {
      await opened.value[Symbol.asyncDispose]();
      await routing[Symbol.asyncDispose]();
    },
  };
  return { model, hash: await brainHash(name) };
}
