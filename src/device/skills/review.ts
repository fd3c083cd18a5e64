/**
 * Everything a reader is shown before an import: each item whole and as it would be stored, what
 * names nothing here, which tools and which of the reader's own skills the bundle could reach, and
 * the choices there are. It runs the merge itself, so the preview is the result.
 *
 * How it is drawn (hidden characters, differences, token prices) is left to the surfaces.
 * Spec: docs/skills.md "Review".
 */
import { itemsOf } from "./bundle.ts";
import { expand } from "./expand.ts";
import { itemHash } from "./item-hash.ts";
import type { Landing } from "./landing.ts";
import { nearMisses, parseMentions, sameProse, type NearMiss } from "./mentions.ts";
import { isNew, merge, reachedLocalSkills, type Merged, type MergeInput } from "./merge.ts";
import { isUnedited, type Origin } from "./origins.ts";
import { outcomeLines, unresolvedLine, type ImportOutcome } from "./outcome.ts";
import { menuOf, openRegistry, unknownMentions, type Registry } from "./registry.ts";
import { bodyBytes, codePoints, maxBodyBytes, maxSummaryCodePoints } from "./skill.ts";
import type { Skill, SkillItem } from "./skill.ts";
import type { ToolDeclaration } from "./tools.ts";

/** One item of the bundle, whole. */
export interface ReviewedItem {
  /** As it arrived. */
  readonly wire: SkillItem;
  readonly kind: Landing["kind"];
  /** As it would be stored, or the local skill that stands for it: the bytes the agent would follow. */
  readonly resulting: Skill;
  readonly unresolved: readonly string[];
  readonly nearMisses: readonly NearMiss[];
  /** Whether new names took a text over its cap: it is imported all the same. */
  readonly tooLongToShare: boolean;
  /** Local copies of an earlier text that the same sender sent under this id. */
  readonly changedBySender: readonly string[];
  /** Local copies of this item that their owner has edited. */
  readonly editedCopies: readonly string[];
  /** Local skills that could be kept instead. */
  readonly keepable: readonly string[];
  /** Local skills that would change if it took its own name: "this also changes @a, @b". */
  readonly fills: readonly string[];
}

/** What a reader sees, and the hash that accepting needs. */
export interface Review {
  /** Mentions of the bundle that name nothing here; they come first. */
  readonly unresolved: readonly string[];
  readonly unresolvedLine: string | undefined;
  readonly items: readonly ReviewedItem[];
  /** Tools that the bundle can reach once it has landed. */
  readonly tools: readonly ToolDeclaration[];
  /** Those among them that nothing of the reader's reaches so far. */
  readonly newTools: readonly ToolDeclaration[];
  /** The reader's own skills that the bundle would call, other than those that stand for an item. */
  readonly ownSkillsCalled: readonly string[];
  /** Items that come along as copies only because something they mention has changed. */
  readonly broughtAlong: readonly string[];
  readonly outcome: ImportOutcome;
  readonly outcomeLines: readonly string[];
  readonly ignoredChoices: readonly string[];
  readonly acceptHash: string;
}

/** Reviews a bundle: the merge, and what a reader should know about it. Stores nothing. */
export function reviewBundle(input: MergeInput): Review {
  const merged = merge(input);
  const { outcome } = merged;
  const before = openRegistry(input.skills, input.tools);
  const after = openRegistry(merged.skills, input.tools);
  const items = merged.landings.landings.map((landing) =>
    reviewItem({ input, merged, before, after }, landing),
  );
  const unresolved = [...new Set(items.flatMap((item) => item.unresolved))];
  const { tools } = expand(
    after,
    outcome.landed.map((landed) => landed.slug),
  );
  const known = new Set(toolsInUse(before).map((tool) => tool.slug));
  const landed = new Set(outcome.landed.map(({ slug }) => slug));
  return {
    unresolved,
    unresolvedLine: unresolvedLine(unresolved),
    items,
    tools,
    newTools: tools.filter((tool) => !known.has(tool.slug)),
    ownSkillsCalled: reachedLocalSkills(input, merged.skills, outcome)
      .map((skill) => skill.id)
      .filter((id) => !landed.has(id)),
    broughtAlong: items.filter((item) => isBroughtAlong(input, item)).map((item) => item.wire.id),
    outcome,
    outcomeLines: outcomeLines(outcome),
    ignoredChoices: merged.landings.ignoredChoices,
    acceptHash: merged.acceptHash,
  };
}

interface Context {
  readonly input: MergeInput;
  readonly merged: Merged;
  readonly before: Registry;
  readonly after: Registry;
}

function reviewItem({ input, merged, before, after }: Context, landing: Landing): ReviewedItem {
  const { item, kind, slug } = landing;
  const reference = after.resolve(slug);
  if (reference?.kind !== "skill")
    throw new Error(`@${item.id} landed at @${slug}, which is no skill`);
  const resulting = reference.skill;
  const ids = new Set(itemsOf(input.bundle).map((other) => other.id));
  const isHolder = (name: string): boolean => ids.has(name) || after.resolve(name) !== undefined;
  const differs = isNew(landing);
  return {
    wire: item,
    kind,
    resulting,
    unresolved: unknownMentions(item.detailedBody, before).filter((name) => !ids.has(name)),
    nearMisses: nearMisses(item.detailedBody, isHolder),
    tooLongToShare:
      bodyBytes(resulting.detailedBody) > maxBodyBytes ||
      codePoints(resulting.shortDescription) > maxSummaryCodePoints,
    changedBySender: differs ? changedBySender(input, item) : [],
    editedCopies: differs ? editedCopies(input, item) : [],
    keepable: kind === "identical" ? [] : (merged.landings.keepable.get(item.id) ?? []),
    fills:
      kind === "identical" || kind === "kept" ? [] : (merged.landings.fillable.get(item.id) ?? []),
  };
}

function originsOf(
  input: MergeInput,
  item: SkillItem,
): readonly { origin: Origin; local: Skill }[] {
  return input.origins.copies.flatMap((origin) => {
    if (origin.wire.id !== item.id) return [];
    const local = input.skills.find((skill) => skill.id === origin.localId);
    return local === undefined ? [] : [{ origin, local }];
  });
}

// "The sender changed it": same sender and wire id, other content.
function changedBySender(input: MergeInput, item: SkillItem): readonly string[] {
  const hash = itemHash(item);
  return originsOf(input, item)
    .filter(({ origin }) => origin.senders.some((arrival) => arrival.aik === input.sender))
    .filter(({ origin }) => itemHash(origin.wire) !== hash)
    .map(({ local }) => local.id);
}

function editedCopies(input: MergeInput, item: SkillItem): readonly string[] {
  return originsOf(input, item)
    .filter(({ origin, local }) => !isUnedited(local, origin))
    .map(({ local }) => local.id);
}

// Its own text is here already; only what it mentions lands elsewhere.
function isBroughtAlong(input: MergeInput, { wire, kind }: ReviewedItem): boolean {
  if (kind !== "own" && kind !== "renamed") return false;
  const copies = originsOf(input, wire)
    .filter(({ origin, local }) => isUnedited(local, origin))
    .filter(({ origin }) => itemHash(origin.wire) === itemHash(wire));
  if (copies.length > 0) return true;
  const holder = input.skills.find((skill) => skill.id === wire.id);
  return (
    holder !== undefined &&
    holder.name === wire.name &&
    sameProse(wire.detailedBody, holder.detailedBody)
  );
}

function toolsInUse(registry: Registry): readonly ToolDeclaration[] {
  const enabled = registry.skills.filter((skill) => skill.enabled);
  const reached = expand(
    registry,
    enabled.flatMap((skill) => parseMentions(skill.detailedBody)),
  );
  return [...reached.tools, ...menuOf(registry).tools];
}
