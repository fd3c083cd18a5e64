/**
 * From handles to what they stand for: the closed toolset that a plan binds, and the bodies that the
 * executor reads. Tools pass through, enabled skills expand to what they mention, and so on.
 *
 * What a model may name is narrower and decided before, in `registry.ts`.
 * Spec: docs/skills.md "Two switches".
 */
import { parseMentions } from "./mentions.ts";
import type { Healing } from "./origins.ts";
import type { Registry } from "./registry.ts";
import type { Skill } from "./skill.ts";
import type { ToolDeclaration } from "./tools.ts";

/** What a list of handles reaches. Every list is in first-appearance order, without repetition. */
export interface Expansion {
  readonly tools: readonly ToolDeclaration[];
  /** Enabled skills, named or reached: their bodies are what the executor gets. */
  readonly skills: readonly Skill[];
  /** Skills that resolve and expand to nothing. */
  readonly disabled: readonly string[];
  /** Slugs that name nothing. */
  readonly unknown: readonly string[];
}

/** Whether a mention in a skill must not bind yet. `skillId` is undefined for a plan's own handles. */
export type Withhold = (skillId: string | undefined, slug: string) => boolean;

const withholdNothing: Withhold = () => false;

/** Withholds tools that imported skills would start to reach until their owner has been asked. */
export function withholdHealings(healings: readonly Healing[]): Withhold {
  return (skillId, slug) =>
    healings.some((healing) => healing.localId === skillId && healing.slug === slug);
}

/** Expands handles recursively; a skill that mentions itself, however indirectly, just stops there. */
export function expand(
  registry: Registry,
  handles: readonly string[],
  withhold: Withhold = withholdNothing,
): Expansion {
  const tools: ToolDeclaration[] = [];
  const skills: Skill[] = [];
  const disabled: string[] = [];
  const unknown: string[] = [];
  const seen = new Set<string>();
  // An explicit stack: ten thousand skills in one chain are legal. Marking a slug when it is taken
  // off, not when it is put on, keeps the order of the plain recursion.
  const pending = stackOf(undefined, handles);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next.slug) || withhold(next.from, next.slug)) continue;
    seen.add(next.slug);
    const reference = registry.resolve(next.slug);
    if (reference === undefined) unknown.push(next.slug);
    else if (reference.kind === "tool") tools.push(reference.tool);
    else if (!reference.skill.enabled) disabled.push(next.slug);
    else {
      skills.push(reference.skill);
      pending.push(...stackOf(next.slug, parseMentions(reference.skill.detailedBody)));
    }
  }
  return { tools, skills, disabled, unknown };
}

/** The toolset that handles bind. */
export function toolsForPlan(
  registry: Registry,
  handles: readonly string[],
): readonly ToolDeclaration[] {
  return expand(registry, handles).tools;
}

/** What a body can reach if it is run: the live line under the editor. */
export function reachOfBody(registry: Registry, body: string): Expansion {
  return expand(registry, parseMentions(body));
}

function stackOf(
  from: string | undefined,
  slugs: readonly string[],
): { readonly from: string | undefined; readonly slug: string }[] {
  return slugs.map((slug) => ({ from, slug })).toReversed();
}
