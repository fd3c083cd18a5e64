/**
 * Joins what answers questions on this device: the brain in use, the router that picks skills for it,
 * the embedder where one is installed, and the owner's models.
 *
 * Spec: docs/agent.md "Brains".
 */
import type { Clock } from "../shared/clock.ts";
import { createBasicBrain } from "./agent/basic-brain.ts";
import { createBrains } from "./brains.ts";
import type { Embedder } from "./model/embedder.ts";
import type { Model } from "./model/port.ts";
import { llamaOpeners } from "./model-openers.ts";
import { createOwnModels } from "./own-models.ts";
import { loadEmbeddingRouter } from "./router/embedding.ts";
import { loadStaticRouter } from "./router/static.ts";
import type { Router } from "./router/port.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type { DeviceModels, ModelOptions } from "./weights/port.ts";

/** What answers on a device. */
export interface OwnBrains {
  readonly brain: () => Promise<Model>;
  readonly countTokens: () => ((text: string) => number) | undefined;
  /** `undefined` while no embedding model is in use. */
  readonly embedder: () => Promise<Embedder | undefined>;
  readonly models: DeviceModels;
  readonly close: () => Promise<void>;
}

/** Joins them. Nothing is opened before the first question. */
export function createOwnBrains(
  { store, clock }: { readonly store: DeviceStore; readonly clock: Clock },
  options: ModelOptions | undefined,
): OwnBrains {
  let routing: Promise<Router> | undefined;
  const router = (): Promise<Router> => (routing ??= bestRouter(brains.embedder));
  const openers = llamaOpeners({ clock, options, router });
  const brains = createBrains({
    store,
    folder: options?.folder,
    openers,
    // Asked anew for every question, since the embedder may have changed.
    basic: async () =>
      createBasicBrain({
        name: "best",
        rank: async (...asked) => await (await router()).rank(...asked),
      }),
  });
  const own = createOwnModels({
    options,
    clock,
    brains,
    openers,
    onEmbedder: () => (routing = undefined),
  });
  return {
    brain: brains.current,
    countTokens: brains.countTokens,
    embedder: brains.embedder,
    models: own.models,
    close: async () => {
      await own.close();
      await brains.close();
    },
  };
}

/** The embedding model that the router's weights were made with. */
const routersEmbedder = "minilm";

/** The router that reads meaning where its embedder is in use, else the one that needs none. */
async function bestRouter(embedder: () => Promise<Embedder | undefined>): Promise<Router> {
  const found = await embedder();
  if (found?.name !== routersEmbedder) return await loadStaticRouter();
  const meaning = await loadEmbeddingRouter(found);
  return meaning.ok ? meaning.value : await loadStaticRouter();
}
