/**
 * Opens model files with the native engine: a brain whose plans may name only what the router ranks
 * first, where the catalogue says so, and an embedder.
 *
 * Spec: docs/agent.md "Brains".
 */
import type { Clock } from "../shared/clock.ts";
import type { ModelOpeners } from "./brains.ts";
import { openLlamaEmbedder } from "./model/llama/llama-embedder.ts";
import { type Narrow, openLlamaModel } from "./model/llama/llama-model.ts";
import type { ModelOptions } from "./weights/port.ts";
import { narrowed } from "./router/narrow.ts";
import type { Router } from "./router/port.ts";

/** What opening needs. */
export interface OpenerParts {
  readonly clock: Clock;
  readonly options: ModelOptions | undefined;
  readonly router: () => Promise<Router>;
}

/** Openers over the engine. */
export function llamaOpeners({ clock, options, router }: OpenerParts): ModelOpeners {
  const { idleMs, threads } = options ?? {};
  const idle = idleMs === undefined ? {} : { idleMs };
  const cores = threads === undefined ? {} : { threads };
  return {
    model: ({ path: file, name, entry }) => {
      const narrow =
        entry?.narrowTo === undefined
          ? {}
          : // Models that are too small to plan alone are too small to choose their calls as well.
            { narrow: narrowTo(entry.narrowTo, router), guided: true };
      return openLlamaModel({ file, name, clock, ...idle, ...cores, ...narrow });
    },
    embedder: ({ path: file, name }) => openLlamaEmbedder({ file, name, ...cores }),
  };
}

/** The likely handles of the router's ranking. */
function narrowTo(count: number, router: () => Promise<Router>): Narrow {
  return async ({ question, menu }, signal) => {
    const ranking = await (await router()).rank(question, menu, signal);
    return ranking.type === "failed" ? ranking : narrowed(ranking, { menu, count });
  };
}
