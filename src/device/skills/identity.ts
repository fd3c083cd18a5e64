/**
 * Which items of a bundle their receiver already has. An item is identical to a local skill if the
 * names are equal and the local body is the wire body with every mention of a bundle item replaced by
 * the slug at which that item lands. Since that slug depends on whether the mentioned item is
 * identical itself, the answer is the greatest set of pairs that support each other.
 *
 * Nothing lands here; `landing.ts` decides about the rest.
 * Spec: docs/skills.md "What an import does".
 */
import { depthFirstItems, type Bundle } from "./bundle.ts";
import { isBuiltinText } from "./builtin.ts";
import { alignMentions, parseMentions } from "./mentions.ts";
import { uneditedCopies, type Origin, type Origins } from "./origins.ts";
import type { Skill, SkillItem } from "./skill.ts";

/** What identity looks at. */
export interface IdentityInput {
  readonly bundle: Bundle;
  readonly skillById: ReadonlyMap<string, Skill>;
  readonly origins: Origins;
  /** Wire id → slug where a choice has settled it before: such an item is not compared. */
  readonly settled: ReadonlyMap<string, string>;
}

interface Copy {
  readonly local: Skill;
  /** Present when the local skill is an unedited copy of this wire id. */
  readonly origin: Origin | undefined;
}

/** Wire id → slug of the identical local skill, for every item that has one. */
export function identicalCopies(input: IdentityInput): ReadonlyMap<string, string> {
  const items = depthFirstItems(input.bundle);
  const itemById = new Map(items.map((item) => [item.id, item]));
  const copiesByWireId = uneditedCopies(input.origins, input.skillById, new Set(itemById.keys()));
  const matched = new Map<string, string>();

  for (const item of items) {
    if (input.settled.has(item.id) || matched.has(item.id)) continue;
    for (const copy of copiesOf(item)) {
      // Pairs that were assumed on the way are withdrawn together when one of them fails.
      const assumed: string[] = [];
      if (holds(item, copy, assumed)) break;
      for (const wireId of assumed) matched.delete(wireId);
    }
  }
  return matched;

  // Unedited copies come first, then whoever holds the incoming slug.
  function copiesOf(item: SkillItem): readonly Copy[] {
    const copies: Copy[] = [...(copiesByWireId.get(item.id) ?? [])];
    const holder = input.skillById.get(item.id);
    if (holder !== undefined && !copies.some((copy) => copy.local.id === holder.id)) {
      copies.push({ local: holder, origin: undefined });
    }
    return copies;
  }

  // Choosing a copy for a parent forces the copy of every child, so walking from the shared skill
  // finds an assignment of all items whenever there is one. A pair in question counts as true while
  // its own support is examined: that is what makes the fixpoint the greatest, cycles included.
  function holds(item: SkillItem, copy: Copy, assumed: string[]): boolean {
    const before = matched.get(item.id);
    if (before !== undefined) return before === copy.local.id;
    const required = requiredLandings(item, copy, (slug) => itemById.has(slug));
    if (required === undefined) return false;
    matched.set(item.id, copy.local.id);
    assumed.push(item.id);
    return [...required].every(([wireId, slug]) => landsAt(wireId, slug, assumed));
  }

  function landsAt(wireId: string, slug: string, assumed: string[]): boolean {
    const settled = input.settled.get(wireId);
    if (settled !== undefined) return settled === slug;
    const item = itemById.get(wireId);
    if (item === undefined) return false;
    const copy = copiesOf(item).find((candidate) => candidate.local.id === slug);
    return copy !== undefined && holds(item, copy, assumed);
  }
}

/**
 * Where the mentioned items would have to land for this pair to be identical; undefined when the pair
 * differs whatever they do.
 */
function requiredLandings(
  item: SkillItem,
  copy: Copy,
  isItem: (slug: string) => boolean,
): ReadonlyMap<string, string> | undefined {
  return requiredByProse(item, copy, isItem) ?? requiredByRelease(item, copy.local, isItem);
}

function requiredByProse(
  item: SkillItem,
  { local, origin }: Copy,
  isItem: (slug: string) => boolean,
): ReadonlyMap<string, string> | undefined {
  if (item.name !== local.name) return undefined;
  const pairs = alignMentions(item.detailedBody, local.detailedBody);
  if (pairs === undefined) return undefined;
  const required = new Map<string, string>();
  for (const [mention, slug] of pairs) {
    if (isItem(mention)) {
      const other = required.get(mention);
      if (other !== undefined && other !== slug) return undefined;
      required.set(mention, slug);
    } else if (slug !== outsideMeaning(mention, origin)) return undefined;
  }
  return required;
}

// A mention of something outside the bundle means today what it meant when this copy arrived, even if
// its owner has renamed that since.
function outsideMeaning(mention: string, origin: Origin | undefined): string {
  if (origin === undefined || origin.intra.includes(mention)) return mention;
  return origin.pins.find((pin) => pin.mention === mention)?.slug ?? mention;
}

// Two releases may ship different texts of one built-in; each of them is the same skill.
function requiredByRelease(
  item: SkillItem,
  local: Skill,
  isItem: (slug: string) => boolean,
): ReadonlyMap<string, string> | undefined {
  if (item.id !== local.id || !isBuiltinText(item) || !isBuiltinText(local)) return undefined;
  return new Map(
    parseMentions(item.detailedBody)
      .filter(isItem)
      .map((slug) => [slug, slug]),
  );
}
