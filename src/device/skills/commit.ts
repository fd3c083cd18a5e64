/**
 * What an owner does to their skills: create, edit (which may rename), delete, switch. Each is a pure
 * function from one catalogue to the next, so a save is one atomic write of the result.
 *
 * It asks nobody: what needs a confirmation or changes other skills is in the outcome, for the editor
 * to show. Imports go through `merge.ts`.
 * Spec: docs/skills.md "Editing".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { parseMentions } from "./mentions.ts";
import { dropFromOrigins } from "./origins.ts";
import {
  heldByCode,
  openRegistry,
  referrersOf,
  unknownMentions,
  waitingNames,
} from "./registry.ts";
import type { Registry } from "./registry.ts";
import { applyRenames, type Catalogue, type RenameError } from "./rename.ts";
import {
  cleanTexts,
  fieldProblems,
  type FieldProblem,
  type Skill,
  type SkillTexts,
} from "./skill.ts";
import { deriveName, foldTitle, mintSlug } from "./slug.ts";
import type { ToolDeclaration } from "./tools.ts";

/** The part of the namespace that no owner can change. */
export interface FixedNames {
  readonly tools: readonly ToolDeclaration[];
  /** Names of on-demand tools: no skill may take one. */
  readonly onDemandNames: readonly string[];
}

/** What the editor hands over. `name` is undefined when the author leaves it to the handle. */
export interface Draft {
  readonly handle: string;
  readonly name: string | undefined;
  readonly shortDescription: string;
  readonly detailedBody: string;
}

/** A save that went through. */
export interface Saved {
  readonly catalogue: Catalogue;
  readonly id: string;
  /** Skills whose waiting mention the new name fills: "this also changes @a, @b". */
  readonly alsoChanges: readonly string[];
  /** Other skills that the rename rewrote. */
  readonly cascaded: readonly string[];
  /** Mentions that named nothing before this save either. */
  readonly stillUnknown: readonly string[];
  /** A name to offer after a rename, when the author had set the present one. */
  readonly suggestedName: string | undefined;
}

/** Why a save is refused. */
export type SaveError =
  | { readonly type: "no-such-skill"; readonly id: string }
  | { readonly type: "empty-handle" }
  | { readonly type: "invalid-texts"; readonly problems: readonly FieldProblem[] }
  | { readonly type: "unknown-mentions"; readonly slugs: readonly string[] }
  | RenameError;

/** A deletion that went through, and what now points at nothing. */
export interface Deleted {
  readonly catalogue: Catalogue;
  readonly referrers: readonly string[];
  readonly mentionedInBaseInstructions: boolean;
}

/** Why a deletion is refused: the id is unknown, or the owner has not confirmed these consequences. */
export type DeleteError =
  | { readonly type: "no-such-skill"; readonly id: string }
  | {
      readonly type: "needs-confirmation";
      readonly referrers: readonly string[];
      readonly mentionedInBaseInstructions: boolean;
    };

/** The slug that a handle would get, shown live: an unchanged handle keeps its slug. */
export function resolveHandle(
  skills: readonly Skill[],
  fixed: FixedNames,
  handle: string,
  currentId?: string,
): string {
  if (currentId !== undefined && (handle === currentId || foldTitle(handle) === currentId)) {
    return currentId;
  }
  const ofCode = heldByCode(fixed.tools, fixed.onDemandNames);
  const others = new Set(skills.map((skill) => skill.id).filter((id) => id !== currentId));
  return mintSlug(handle, (slug) => ofCode(slug) || others.has(slug));
}

/** Adds a skill at the end of the list, enabled and off the menu. */
export function createSkill(
  catalogue: Catalogue,
  fixed: FixedNames,
  draft: Draft,
): Result<Saved, SaveError> {
  if (foldTitle(draft.handle) === "") return err({ type: "empty-handle" });
  const id = resolveHandle(catalogue.skills, fixed, draft.handle);
  const name = draft.name ?? deriveName(foldTitle(draft.handle));
  const texts = cleanTexts({ ...draft, name });
  const problems = fieldProblems(texts);
  if (problems.length > 0) return err({ type: "invalid-texts", problems });
  const registry = openRegistry(catalogue.skills, fixed.tools);
  const slugs = unknownMentions(texts.detailedBody, registry).filter((slug) => slug !== id);
  if (slugs.length > 0) return err({ type: "unknown-mentions", slugs });
  const nameIsSet = draft.name !== undefined;
  const skill: Skill = { id, ...texts, enabled: true, advertised: false, nameIsSet };
  return ok({
    catalogue: { ...catalogue, skills: [...catalogue.skills, skill] },
    id,
    alsoChanges: waitingNames(registry).get(id) ?? [],
    cascaded: [],
    stillUnknown: [],
    suggestedName: undefined,
  });
}

/** Saves an edited skill; a changed handle renames it with cascade, in the same save. */
export function editSkill(
  catalogue: Catalogue,
  fixed: FixedNames,
  id: string,
  draft: Draft,
): Result<Saved, SaveError> {
  const stored = catalogue.skills.find((skill) => skill.id === id);
  if (stored === undefined) return err({ type: "no-such-skill", id });
  if (draft.handle !== id && foldTitle(draft.handle) === "") return err({ type: "empty-handle" });
  const slug = resolveHandle(catalogue.skills, fixed, draft.handle, id);
  const naming = nameAfter(stored, draft, slug !== id);
  const texts = cleanTexts({ ...draft, name: naming.name });
  const problems = fieldProblems(texts);
  if (problems.length > 0) return err({ type: "invalid-texts", problems });

  const registry = openRegistry(catalogue.skills, fixed.tools);
  const mentions = judgeMentions(registry, stored, texts, slug);
  if (mentions.refused.length > 0) {
    return err({ type: "unknown-mentions", slugs: mentions.refused });
  }
  return replace(catalogue, registry, {
    stored,
    next: { ...stored, ...texts, nameIsSet: naming.nameIsSet },
    slug,
    stillUnknown: mentions.older,
    suggestedName: naming.suggestedName,
  });
}

/** Changes only the handle. */
export function renameSkill(
  catalogue: Catalogue,
  fixed: FixedNames,
  id: string,
  handle: string,
): Result<Saved, SaveError> {
  const stored = catalogue.skills.find((skill) => skill.id === id);
  if (stored === undefined) return err({ type: "no-such-skill", id });
  if (handle !== id && foldTitle(handle) === "") return err({ type: "empty-handle" });
  const slug = resolveHandle(catalogue.skills, fixed, handle, id);
  const naming = nameAfter(stored, { handle, name: undefined }, slug !== id);
  const registry = openRegistry(catalogue.skills, fixed.tools);
  // Texts stay as they are, even one that an import left over its cap: nobody edits them here.
  return replace(catalogue, registry, {
    stored,
    next: { ...stored, name: naming.name },
    slug,
    stillUnknown: judgeMentions(registry, stored, stored, slug).older,
    suggestedName: naming.suggestedName,
  });
}

/** Deletes a skill. What mentions it stays as it is and expands to nothing. */
export function deleteSkill(
  catalogue: Catalogue,
  id: string,
  confirmed: boolean,
): Result<Deleted, DeleteError> {
  if (!catalogue.skills.some((skill) => skill.id === id)) return err({ type: "no-such-skill", id });
  const referrers = referrersOf(catalogue.skills, id);
  const mentionedInBaseInstructions = parseMentions(catalogue.baseInstructions).includes(id);
  if (!confirmed)
    return err({ type: "needs-confirmation", referrers, mentionedInBaseInstructions });
  return ok({
    catalogue: {
      ...catalogue,
      skills: catalogue.skills.filter((skill) => skill.id !== id),
      origins: dropFromOrigins(catalogue.origins, id),
    },
    referrers,
    mentionedInBaseInstructions,
  });
}

/** Sets one or both switches. Errors: the id is unknown. */
export function switchSkill(
  catalogue: Catalogue,
  id: string,
  switches: { readonly enabled?: boolean; readonly advertised?: boolean },
): Result<Catalogue, { readonly type: "no-such-skill"; readonly id: string }> {
  if (!catalogue.skills.some((skill) => skill.id === id)) return err({ type: "no-such-skill", id });
  const skills = catalogue.skills.map((skill) =>
    skill.id === id ? { ...skill, ...switches } : skill,
  );
  return ok({ ...catalogue, skills });
}

interface Replacement extends Pick<Saved, "stillUnknown" | "suggestedName"> {
  readonly stored: Skill;
  readonly next: Skill;
  readonly slug: string;
}

function replace(
  catalogue: Catalogue,
  registry: Registry,
  { stored, next, slug, ...rest }: Replacement,
): Result<Saved, RenameError> {
  const { id } = stored;
  const skills = catalogue.skills.map((skill) => (skill === stored ? next : skill));
  if (slug === id) {
    return ok({ catalogue: { ...catalogue, skills }, id, alsoChanges: [], cascaded: [], ...rest });
  }
  // Replace the row first, cascade second: the draft may mention the skill by its old name.
  const renamed = applyRenames({ ...catalogue, skills }, new Map([[id, slug]]));
  if (!renamed.ok) return renamed;
  const waiting = waitingNames(registry).get(slug) ?? [];
  return ok({
    catalogue: renamed.value,
    id: slug,
    alsoChanges: waiting.filter((other) => other !== id),
    cascaded: referrersOf(catalogue.skills, id),
    ...rest,
  });
}

interface Naming {
  readonly name: string;
  readonly nameIsSet: boolean;
  readonly suggestedName: string | undefined;
}

function nameAfter(stored: Skill, draft: Pick<Draft, "handle" | "name">, renamed: boolean): Naming {
  if (draft.name !== undefined && draft.name !== stored.name) {
    return { name: draft.name, nameIsSet: true, suggestedName: undefined };
  }
  const derived = deriveName(foldTitle(draft.handle));
  if (!renamed) {
    return { name: stored.name, nameIsSet: stored.nameIsSet, suggestedName: undefined };
  }
  if (!stored.nameIsSet) return { name: derived, nameIsSet: false, suggestedName: undefined };
  const suggestedName = derived === stored.name ? undefined : derived;
  return { name: stored.name, nameIsSet: true, suggestedName };
}

// A stored hole only warns: otherwise a skill that has one could never be edited again.
function judgeMentions(
  registry: Registry,
  stored: Skill,
  texts: SkillTexts,
  slug: string,
): { readonly refused: readonly string[]; readonly older: readonly string[] } {
  const before = new Set(unknownMentions(stored.detailedBody, registry));
  const unknown = unknownMentions(texts.detailedBody, registry).filter((other) => other !== slug);
  return {
    refused: unknown.filter((other) => !before.has(other)),
    older: unknown.filter((other) => before.has(other)),
  };
}
