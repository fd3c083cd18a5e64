/**
 * A skill before its own tools: where a tool of the menu fits best and a skill that mentions it fits
 * nearly as well, the skill is meant. Its plan binds the tool too, so nothing is lost by it; the tool
 * alone could not do what the skill does.
 *
 * Pure. Spec: docs/agent.md "Routers".
 */
import { byScore, type MenuLine, type Ranking, type Verdict } from "./port.ts";

/** A skill this much less probable than its tool is preferred still: e³ ≈ 20 times. */
const reach = 3;

/** The ranking without the tools that come with a skill which fits nearly as well. */
export function preferSkills(ranking: Ranking, menu: readonly MenuLine[]): Ranking {
  const scores = new Map(ranking.scored.map(({ handle, score }) => [handle, score]));
  const comesAlong = new Set(
    menu.flatMap(({ handle, mentions = [] }) =>
      mentions.filter((tool) => {
        const [own, tools] = [scores.get(handle), scores.get(tool)];
        return own !== undefined && tools !== undefined && own > tools - reach;
      }),
    ),
  );
  if (comesAlong.size === 0) return ranking;
  const scored = byScore(ranking.scored.filter(({ handle }) => !comesAlong.has(handle)));
  return { ...ranking, scored, verdict: verdictOn(ranking.verdict, scored, comesAlong) };
}

function verdictOn(
  verdict: Verdict,
  scored: Ranking["scored"],
  gone: ReadonlySet<string>,
): Verdict {
  const best = scored[0]?.handle;
  if (verdict.type === "none" || best === undefined) return verdict;
  if (verdict.type === "pick")
    return gone.has(verdict.handle) ? { ...verdict, handle: best } : verdict;
  const handles = verdict.handles.filter((handle) => !gone.has(handle));
  return handles.length > 1 ? { ...verdict, handles } : { type: "pick", handle: best };
}
