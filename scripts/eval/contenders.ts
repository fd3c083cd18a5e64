/**
 * Who takes part in the choice suite: BM25 as the yardstick, the routers, and the models of the cache
 * planning through the real engine, narrowed by the router as on a device.
 *
 * A model that was not fetched is refused with how to fetch it, never replaced by another.
 */
import { defaultInstructions, systemPrompt } from "../../src/device/agent/alignment.ts";
import type { Embedder } from "../../src/device/model/embedder.ts";
import { openLlamaEmbedder } from "../../src/device/model/llama/llama-embedder.ts";
import { openLlamaModel } from "../../src/device/model/llama/llama-model.ts";
import type { Model } from "../../src/device/model/port.ts";
import { bm25Router } from "../../src/device/router/bm25.ts";
import { loadEmbeddingRouter } from "../../src/device/router/embedding.ts";
import { narrowed } from "../../src/device/router/narrow.ts";
import type { Ranking, Router } from "../../src/device/router/port.ts";
import { loadStaticRouter } from "../../src/device/router/static.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { parseMentions } from "../../src/device/skills/mentions.ts";
import { catalogueEntry } from "../../src/device/weights/catalogue.ts";
import { cachedModel, type cachedModels } from "../models/cache.ts";
import type { Contender } from "./choice.ts";

/** Handles that the router leaves to a model's plan. */
const narrowTo = 3;

/** The contender of that name and the yardstick. Throws, with what to do, when it cannot be had. */
export async function contendersFor(brain: string): Promise<readonly Contender[]> {
  return [
    await openContender(brain),
    { brain: "none", router: bm25Router, model: null, ranks: true },
  ];
}

async function openContender(brain: string): Promise<Contender> {
  switch (brain) {
    case "basic":
      return { brain, router: await loadStaticRouter(), model: null, ranks: true };
    case "embedding":
      return {
        brain: "basic",
        router: await meaningRouter(),
        model: hashOf("minilm"),
        ranks: true,
      };
    case "qwen-coder-1.5b":
    case "smollm2": {
      const router = await meaningRouter();
      const model = await openPlanner(brain, router);
      const planning = planningRouter(model, router.name);
      return { brain, router: planning, model: hashOf(brain), ranks: false };
    }
    default:
      throw new Error(
        `there is no brain ${brain}: expected basic, embedding, qwen-coder-1.5b or smollm2`,
      );
  }
}

async function meaningRouter(): Promise<Router> {
  const router = await loadEmbeddingRouter(await openEmbedder());
  if (!router.ok) throw new Error(router.error.reason);
  return router.value;
}

async function openEmbedder(): Promise<Embedder> {
  const opened = await openLlamaEmbedder({ file: fetched("minilm") });
  if (!opened.ok) throw new Error(opened.error.reason);
  return opened.value;
}

async function openPlanner(name: "qwen-coder-1.5b" | "smollm2", router: Router): Promise<Model> {
  const opened = await openLlamaModel({
    file: fetched(name),
    name,
    narrow: async ({ question, menu }, signal) => {
      const ranking = await router.rank(question, menu, signal);
      return ranking.type === "failed" ? ranking : narrowed(ranking, narrowTo);
    },
  });
  if (!opened.ok) throw new Error(opened.error.reason);
  return opened.value;
}

/** The hash that the catalogue pins; the fetched file was checked against it. */
function hashOf(name: string): string | null {
  return catalogueEntry(name)?.sha256 ?? null;
}

function fetched(name: (typeof cachedModels)[number]): string {
  const file = cachedModel(name);
  if (file === undefined) throw new Error(`${name} was not fetched: npm run models ${name}`);
  return file;
}

/** A model's plan as a ranking: what the sentence names comes first. */
function planningRouter(model: Model, routerName: string): Router {
  const [pattern] = builtinSkills;
  if (pattern === undefined) throw new Error("expected a built-in skill");
  return {
    name: routerName,
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
