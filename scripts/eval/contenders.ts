/**
 * Who takes part in the choice suite: BM25 as the yardstick, the routers, and the models of the cache
 * planning through the real engine, narrowed by the router as on a device.
 *
 * Spec: docs/evaluation.md.
 */
import { defaultInstructions, systemPrompt } from "../../src/device/agent/alignment.ts";
import type { Model } from "../../src/device/model/port.ts";
import { bm25Router } from "../../src/device/router/bm25.ts";
import type { Ranking, Router } from "../../src/device/router/port.ts";
import { loadStaticRouter } from "../../src/device/router/static.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { parseMentions } from "../../src/device/skills/mentions.ts";
import { openBrain } from "./brains.ts";
import type { Contender } from "./choice.ts";
import { openMeaningRouter } from "./routers.ts";

/** Plain word matching, what everything is compared with. */
export const yardstick: Contender = { brain: "none", router: bm25Router, model: null, ranks: true };

/** The contender of that name. Throws, with what to do, when it cannot be had. */
export async function openContender(
  brain: string,
  threads: number | undefined,
): Promise<Contender & AsyncDisposable> {
  if (brain === "basic") {
    const router = await loadStaticRouter();
    return {
      brain,
      router,
      model: null,
      ranks: true,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  if (brain === "embedding") {
    const { router, ...rest } = await openMeaningRouter(threads);
    return { ...rest, brain: "basic", router, model: null, ranks: true };
  }
  const { model, hash } = await openBrain(brain, threads);
  return {
    brain,
    router: planningRouter(model),
    model: hash,
    ranks: false,
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

/** A model's plan as a ranking: what the sentence names comes first. */
function planningRouter(model: Model): Router {
  const [pattern] = builtinSkills;
  if (pattern === undefined) throw new Error("expected a built-in skill");
  return {
    name: "embedding",
    rank: async (question, menu, signal) => {
      const skills = menu.map(({ handle, line }) => ({
        ...pattern,
        id: handle,
        shortDescription: line,
      }));
      const system = systemPrompt(
        { instructions: defaultInstructions, blurbs: [] },
        { skills, tools: [] },
      );
      const reply = await model.plan({ system, question, menu, history: [] }, signal);
      if (reply.type === "failed") return reply;
      const handles = reply.type === "unsure" ? reply.handles : parseMentions(reply.sentence);
      const scored = menu
        .map(({ handle }) => ({ handle, score: handles.includes(handle) ? 1 : 0 }))
        .toSorted((a, b) => b.score - a.score);
      const [first] = handles;
      const verdict: Ranking["verdict"] =
        first === undefined ? { type: "none" } : { type: "pick", handle: first };
      return { type: "ranked", scored, verdict };
    },
  };
}
