/**
 * What a ranking leaves to a brain's plan: the likely handles and whether the plan may name none. A
 * small model plans badly before a whole menu, so the grammar of its plan admits these alone; the
 * prompt stays what Alignment shows.
 *
 * Where the router is sure, one handle is left, and where it is sure that nothing fits, none is.
 * Spec: docs/agent.md "Routers".
 */
import type { MenuLine, Ranking, ScoredHandle } from "./port.ts";
import { preferSkills } from "./prefer-skills.ts";

/** What a plan may name. */
export interface Narrowed {
  readonly type: "narrowed";
  readonly handles: readonly ScoredHandle[];
  readonly none: boolean;
}

/** A handle this much less probable than the best is not left: e² ≈ 7 times. */
const reach = 2;

/**
 * From this probability on, "nothing fits" leaves no handle. Below it the brain chooses between the likely
 * ones and none: what a line such as "anything the owner may have kept" serves is like no line at all, so
 * a router says too soon that nothing does.
 */
const sureOfNothing = 0.9;

/** At most `count` handles, best first. */
export function narrowed(
  ranking: Ranking,
  { menu, count }: { readonly menu: readonly MenuLine[]; readonly count: number },
): Narrowed {
  const { scored, verdict } = preferSkills(ranking, menu);
  // Where the router's best is a tool that comes along, its order of the others says little.
  const isTold = scored[0]?.handle === ranking.scored[0]?.handle;
  const none = verdict.type === "none";
  if (none && (ranking.none ?? 1) >= sureOfNothing) {
    return { type: "narrowed", handles: [], none };
  }
  const best = scored[0]?.score ?? 0;
  const likely = scored
    .filter(({ score }) => score > best - reach)
    .slice(0, count)
    .map(({ handle, score }) => ({ handle, score: isTold ? score : 0 }));
  return { type: "narrowed", handles: likely, none };
}
