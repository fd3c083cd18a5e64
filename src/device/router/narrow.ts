/**
 * What a ranking leaves to a brain's plan: the likely handles and whether the plan may name none. A
 * small model plans badly before a whole menu, so the grammar of its plan admits these alone; the
 * prompt stays what Alignment shows.
 *
 * Where the router is sure, one handle is left, and where it says that nothing fits, none is.
 * Spec: docs/agent.md "Routers".
 */
import type { MenuLine, Ranking } from "./port.ts";
import { preferSkills } from "./prefer-skills.ts";

/** What a plan may name. */
export interface Narrowed {
  readonly type: "narrowed";
  readonly handles: readonly string[];
  readonly none: boolean;
}

/** A handle this much less probable than the best is not left: e² ≈ 7 times. */
const reach = 2;

/** At most `count` handles, best first. */
export function narrowed(
  ranking: Ranking,
  { menu, count }: { readonly menu: readonly MenuLine[]; readonly count: number },
): Narrowed {
  const { scored, verdict } = preferSkills(ranking, menu);
  if (verdict.type === "none") return { type: "narrowed", handles: [], none: true };
  const best = scored[0]?.score ?? 0;
  const likely = scored.filter(({ score }) => score > best - reach).slice(0, count);
  return { type: "narrowed", handles: likely.map(({ handle }) => handle), none: false };
}
