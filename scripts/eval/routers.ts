/**
 * The routers that evaluations use: the one without weights of others, and the one that reads meaning
 * over the MiniLM of the models' cache.
 *
 * A model that was not fetched is refused with how to fetch it, never replaced.
 */
import { openLlamaEmbedder } from "../../src/device/model/llama/llama-embedder.ts";
import { loadEmbeddingRouter } from "../../src/device/router/embedding.ts";
import type { Router } from "../../src/device/router/port.ts";
import { cachedModel } from "../models/cache.ts";

/** The router that reads meaning, and what to dispose of in the end. */
export async function openMeaningRouter(
  threads?: number,
): Promise<{ readonly router: Router } & AsyncDisposable> {
  const file = cachedModel("minilm");
  if (file === undefined) throw new Error("minilm was not fetched: npm run models minilm");
  const opened = await openLlamaEmbedder({ file, ...(threads === undefined ? {} : { threads }) });
  if (!opened.ok) throw new Error(opened.error.reason);
  const embedder = opened.value;
  const router = await loadEmbeddingRouter(embedder);
  if (!router.ok) throw new Error(router.error.reason);
  return { router: router.value, [Symbol.asyncDispose]: () => embedder[Symbol.asyncDispose]() };
}
