/**
 * `/skill-id rest`, typed by the owner: names the skill that this turn follows. Only an enabled skill
 * can be invoked; anything else that begins with a slash is ordinary text.
 *
 * Spec: docs/agent.md "Naming a skill".
 */
import type { Registry } from "../skills/registry.ts";
import type { Skill } from "../skills/skill.ts";

/** An invocation: the skill, and what is asked of it. */
export interface Invocation {
  readonly skill: Skill;
  readonly rest: string;
}

/** The skill that a typed text invokes now, if it does. */
export function invokedSkill(registry: Registry, typed: string): Invocation | undefined {
  const [, slug = "", rest = ""] =
    /^\/([A-Za-z0-9][A-Za-z0-9-]*)(?:\s+([\s\S]*))?$/.exec(typed.trim()) ?? [];
  const reference = registry.resolve(slug.toLowerCase());
  if (reference?.kind !== "skill" || !reference.skill.enabled) return undefined;
  return { skill: reference.skill, rest: rest.trim() };
}
