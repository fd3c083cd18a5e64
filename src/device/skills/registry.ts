/**
 * The one flat namespace: what a slug names, and what the planner's menu offers. Slugs of skills and
 * tools never overlap, so a name needs no qualification and resolving ranks nothing.
 *
 * It only answers; `commit.ts` and `merge.ts` keep the namespace in order. A population that breaks
 * the rule is refused, because every answer about it would be a guess.
 * Spec: docs/skills.md "Names" and "Two switches".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { mentionSpans, parseMentions, type Mention } from "./mentions.ts";
import type { Skill } from "./skill.ts";
import { reservedNames } from "./slug.ts";
import { toolSet, type ToolDeclaration } from "./tools.ts";

/** What a slug names. */
export type Reference =
  | { readonly kind: "skill"; readonly skill: Skill }
  | { readonly kind: "tool"; readonly tool: ToolDeclaration };

/** Why a population of skills cannot be one namespace. Both names are the display names. */
export type NamespaceError =
  | {
      readonly type: "duplicate-skill";
      readonly id: string;
      readonly names: readonly [string, string];
    }
  | {
      readonly type: "slug-of-tool";
      readonly id: string;
      readonly names: readonly [string, string];
    };

/** Skills and tools by slug. */
export interface Registry {
  readonly skills: readonly Skill[];
  readonly tools: readonly ToolDeclaration[];
  /** A skill, a tool, or nothing. */
  readonly resolve: (slug: string) => Reference | undefined;
}

/** What the planner may choose from. Both lists are empty when planning is off. */
export interface Menu {
  readonly skills: readonly Skill[];
  readonly tools: readonly ToolDeclaration[];
}

/** A mention with what it names; `kind` is what an editor tints it by. */
export interface AnnotatedMention extends Mention {
  readonly kind: Reference["kind"] | "unknown";
}

/** Builds the namespace. Errors: two holders of one slug, both named. */
export function createRegistry(
  skills: readonly Skill[],
  tools: readonly ToolDeclaration[] = toolSet,
): Result<Registry, NamespaceError> {
  const references = new Map<string, Reference>();
  for (const tool of tools) references.set(tool.slug, { kind: "tool", tool });
  for (const skill of skills) {
    const holder = references.get(skill.id);
    if (holder?.kind === "skill") {
      return err({
        type: "duplicate-skill",
        id: skill.id,
        names: [holder.skill.name, skill.name],
      });
    }
    if (holder?.kind === "tool") {
      return err({ type: "slug-of-tool", id: skill.id, names: [holder.tool.name, skill.name] });
    }
    references.set(skill.id, { kind: "skill", skill });
  }
  return ok({ skills, tools, resolve: (slug) => references.get(slug) });
}

/** One line for whoever has to repair the store. */
export function namespaceErrorText(error: NamespaceError): string {
  const [first, second] = error.names;
  const holders =
    error.type === "duplicate-skill"
      ? `the skills “${first}” and “${second}”`
      : `the tool “${first}” and the skill “${second}”`;
  return `@${error.id} has two holders, ${holders}: rename one of them`;
}

/** The menu: enabled and advertised skills in stored order, and advertised tools beside them. */
export function menuOf(registry: Registry): Menu {
  const skills = registry.skills.filter((skill) => skill.enabled && skill.advertised);
  // Without a skill to plan with there is no planning, so tools have nobody to be offered to.
  const tools = skills.length === 0 ? [] : registry.tools.filter((tool) => tool.advertiseInMenu);
  return { skills, tools };
}

/** Planning is on exactly when the menu holds at least one skill. */
export function isPlanningOn(registry: Registry): boolean {
  return menuOf(registry).skills.length > 0;
}

/** Splits the handles of a model's plan into those the menu offers and those to drop and report. */
export function admitHandles(
  registry: Registry,
  handles: readonly string[],
): { readonly admitted: readonly string[]; readonly dropped: readonly string[] } {
  const menu = menuOf(registry);
  const offered = new Set([
    ...menu.skills.map((skill) => skill.id),
    ...menu.tools.map((tool) => tool.slug),
  ]);
  return {
    admitted: handles.filter((handle) => offered.has(handle)),
    dropped: handles.filter((handle) => !offered.has(handle)),
  };
}

/** Slugs that a text mentions and that name nothing, in first-seen order. */
export function unknownMentions(text: string, registry: Registry): readonly string[] {
  return parseMentions(text).filter((slug) => registry.resolve(slug) === undefined);
}

/** Every mention of a text with the kind of what it names. */
export function annotateMentions(text: string, registry: Registry): readonly AnnotatedMention[] {
  return mentionSpans(text).map((mention) => ({
    ...mention,
    kind: registry.resolve(mention.slug)?.kind ?? "unknown",
  }));
}

/** Names that mentions of stored bodies wait for: each with the skills that would be changed. */
export function waitingNames(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const waiting = new Map<string, string[]>();
  for (const skill of registry.skills) {
    for (const slug of unknownMentions(skill.detailedBody, registry)) {
      const ids = waiting.get(slug);
      if (ids === undefined) waiting.set(slug, [skill.id]);
      else ids.push(skill.id);
    }
  }
  return waiting;
}

/** Skills whose body mentions a slug, the holder itself aside, in stored order. */
export function referrersOf(skills: readonly Skill[], slug: string): readonly string[] {
  return skills
    .filter((skill) => skill.id !== slug && parseMentions(skill.detailedBody).includes(slug))
    .map((skill) => skill.id);
}

/** Whether code holds a name: a tool's slug, a reserved name, or an on-demand tool's name. */
export function heldByCode(
  tools: readonly ToolDeclaration[],
  onDemandNames: readonly string[] = [],
): (slug: string) => boolean {
  const names = new Set([
    ...tools.map((tool) => tool.slug),
    ...reservedNames,
    ...onDemandNames.map((name) => name.toLowerCase()),
  ]);
  return (slug) => names.has(slug);
}

/** `createRegistry` for a population that its store has already checked. Throws when it is none. */
export function openRegistry(
  skills: readonly Skill[],
  tools: readonly ToolDeclaration[] = toolSet,
): Registry {
  const registry = createRegistry(skills, tools);
  if (!registry.ok) throw new Error(namespaceErrorText(registry.error));
  return registry.value;
}
