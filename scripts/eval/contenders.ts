/**
 * Who takes part in the choice suite: BM25 as the yardstick, the routers, and the models of the cache
 * planning through the real engine, narrowed by the router as on a device.
 *
 * Spec: docs/evaluation.md.
 */
import { defaultInstructions, systemPrompt } from "../../src/device/agent/alignment.ts";
import { menuLines } from "../../src/device/agent/planned.ts";
import type { Model } from "../../src/device/model/port.ts";
import { bm25Router } from "../../src/device/router/bm25.ts";
import type { MenuLine, Ranking, Router } from "../../src/device/router/port.ts";
import { loadStaticRouter } from "../../src/device/router/static.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { parseMentions } from "../../src/device/skills/mentions.ts";
import type { Menu } from "../../src/device/skills/registry.ts";
import type { Skill } from "../../src/device/skills/skill.ts";
import { toolSet } from "../../src/device/skills/tools.ts";
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
  const [builtin] = builtinSkills;
  if (builtin === undefined) throw new Error("expected a built-in skill");
  const pattern = { ...builtin, detailedBody: "" };
  return {
    name: "embedding",
    rank: async (question, menu, signal) => {
      const asked = menuWith(menu, pattern);
      const system = systemPrompt({ instructions: defaultInstructions, blurbs: [] }, asked);
      const request = { system, question, menu: menuLines(asked), history: [] };
      const reply = await model.plan(request, signal);
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

/** The menu as a device has it: tools are tools, and what a built-in skill mentions is known. */
function menuWith(lines: readonly MenuLine[], pattern: Skill): Menu {
  const tools = toolSet.filter(({ slug, description }) =>
    lines.some(({ handle, line }) => handle === slug && line === description),
  );
  const isTool = ({ handle }: MenuLine): boolean => tools.some(({ slug }) => slug === handle);
  const skills = lines
    .filter((line) => !isTool(line))
    .map(({ handle, line }) => {
      const own = builtinSkills.find((one) => one.id === handle && one.shortDescription === line);
      return own ?? { ...pattern, id: handle, shortDescription: line };
    });
  return { skills, tools };
}
