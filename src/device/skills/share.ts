/**
 * From a local skill to the bundle that carries it: the transitive closure over mentions of skills,
 * depth first. Tools are code and never travel; a disabled skill does.
 *
 * Copies that their owner has not edited travel under the ids they came with, so that a skill that is
 * passed from hand to hand stays recognisable. Sending is the caller's business.
 * Spec: docs/skills.md "Sharing".
 */
import { utf8 } from "../../shared/bytes.ts";
import { maxMessageBytes } from "../../shared/limits.ts";
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import { encodeBundle, maxBundleItems, wireItem, type Bundle } from "./bundle.ts";
import { parseMentions, rewriteMentions } from "./mentions.ts";
import { isUnedited, type Origins } from "./origins.ts";
import { heldByCode, openRegistry, type Registry } from "./registry.ts";
import { fieldProblems, type FieldProblem, type Skill, type SkillItem } from "./skill.ts";
import { isUsableSlug } from "./slug.ts";
import { toolSet, type ToolDeclaration } from "./tools.ts";

/** What sharing reads. */
export interface ShareInput {
  readonly skills: readonly Skill[];
  readonly origins: Origins;
  readonly tools?: readonly ToolDeclaration[];
  /** The skill to share. */
  readonly id: string;
}

/** One skill and the bytes that it takes in the message. */
export interface ItemSize {
  readonly id: string;
  readonly bytes: number;
}

/** Why a skill cannot be shared as it is. */
export type ShareError =
  | { readonly type: "no-such-skill"; readonly id: string }
  | {
      readonly type: "too-many-items";
      readonly got: number;
      readonly limit: number;
      readonly largest: readonly ItemSize[];
    }
  | {
      readonly type: "bundle-too-large";
      readonly got: number;
      readonly limit: number;
      readonly largest: readonly ItemSize[];
    }
  | {
      readonly type: "item-does-not-fit";
      readonly id: string;
      readonly problems: readonly FieldProblem[];
      readonly largest: readonly ItemSize[];
    };

const largestNamed = 3;

/** Packs a skill with all that it reaches. Errors: what does not fit, naming the largest items. */
export function shareBundle(input: ShareInput): Result<Bundle, ShareError> {
  const tools = input.tools ?? toolSet;
  const registry = openRegistry(input.skills, tools);
  const skills = closureOf(registry, input.id);
  if (skills.length === 0) return err({ type: "no-such-skill", id: input.id });

  const wireIds = chooseWireIds(skills, input.origins, heldByCode(tools));
  const items = skills.map((skill) => renamedItem(skill, wireIds));
  const largest = largestOf(items);
  if (items.length > maxBundleItems) {
    return err({ type: "too-many-items", got: items.length, limit: maxBundleItems, largest });
  }
  for (const [index, item] of items.entries()) {
    const problems = fieldProblems(item);
    const id = skills[index]?.id ?? item.id;
    if (problems.length > 0) return err({ type: "item-does-not-fit", id, problems, largest });
  }
  const [skill, ...closure] = items;
  if (skill === undefined) return err({ type: "no-such-skill", id: input.id });
  const bundle = { skill, closure };
  const bytes = utf8(encodeBundle(bundle)).length;
  return bytes > maxMessageBytes
    ? err({ type: "bundle-too-large", got: bytes, limit: maxMessageBytes, largest })
    : ok(bundle);
}

/** The skill and every skill that it reaches, depth first in first-appearance order. */
export function closureOf(registry: Registry, id: string): readonly Skill[] {
  const found = new Map<string, Skill>();
  const pending = [id];
  for (let slug = pending.pop(); slug !== undefined; slug = pending.pop()) {
    const reference = registry.resolve(slug);
    if (reference?.kind !== "skill" || found.has(slug)) continue;
    found.set(slug, reference.skill);
    pending.push(...parseMentions(reference.skill.detailedBody).toReversed());
  }
  return [...found.values()];
}

/** One line that says what does not fit and what to shorten. */
export function shareErrorText(error: ShareError): string {
  switch (error.type) {
    case "no-such-skill":
      return `there is no skill @${error.id}`;
    case "too-many-items":
      return `this reaches ${error.got} skills, at most ${error.limit} fit into one message; the largest are ${listed(error.largest)}`;
    case "bundle-too-large":
      return `this takes ${error.got} bytes, at most ${error.limit} fit into one message; the largest are ${listed(error.largest)}`;
    case "item-does-not-fit":
      return `@${error.id} is too long to share or holds what cannot travel; the largest are ${listed(error.largest)}`;
    default:
      return assertNever(error);
  }
}

/**
 * Local slug → wire id, for the copies that return to the id they came with. That id must be free in
 * the bundle: no member has it and no text mentions it, or the mention would change its meaning.
 */
function chooseWireIds(
  skills: readonly Skill[],
  origins: Origins,
  ofCode: (slug: string) => boolean,
): ReadonlyMap<string, string> {
  const used = new Set(skills.map((skill) => skill.id));
  for (const skill of skills) {
    for (const slug of parseMentions(skill.detailedBody)) used.add(slug);
  }
  const wireIds = new Map<string, string>();
  for (const skill of skills) {
    const wireId = origins.copies.find(
      (origin) =>
        origin.imported &&
        origin.localId === skill.id &&
        origin.wire.id !== skill.id &&
        isUnedited(skill, origin),
    )?.wire.id;
    if (wireId === undefined || used.has(wireId) || ofCode(wireId)) continue;
    if (!isUsableSlug(wireId)) continue;
    used.add(wireId);
    wireIds.set(skill.id, wireId);
  }
  return wireIds;
}

function renamedItem(skill: Skill, wireIds: ReadonlyMap<string, string>): SkillItem {
  return wireItem({
    ...skill,
    id: wireIds.get(skill.id) ?? skill.id,
    shortDescription: rewriteMentions(skill.shortDescription, wireIds),
    detailedBody: rewriteMentions(skill.detailedBody, wireIds),
  });
}

function largestOf(items: readonly SkillItem[]): readonly ItemSize[] {
  return items
    .map((item) => ({ id: item.id, bytes: utf8(JSON.stringify(item)).length }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, largestNamed);
}

function listed(sizes: readonly ItemSize[]): string {
  return sizes.map((size) => `@${size.id} (${size.bytes} bytes)`).join(", ");
}
