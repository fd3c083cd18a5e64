/**
 * Where every item of a bundle lands in somebody's namespace: at the skill that already is it, at the
 * skill its reader keeps instead, at its own name, or at a new one. Local skills never move.
 *
 * An incoming name may not shadow a tool, and may not fill a hole that a local text has, unless the
 * reader accepts just that. Building the list and the provenance is left to `merge.ts`.
 * Spec: docs/skills.md "What an import does".
 */
import { itemsOf, type Bundle } from "./bundle.ts";
import { identicalCopies } from "./identity.ts";
import { itemHash } from "./item-hash.ts";
import type { Origins } from "./origins.ts";
import { heldByCode, openRegistry, unknownMentions, waitingNames } from "./registry.ts";
import type { Skill, SkillItem } from "./skill.ts";
import { isUsableSlug, mintSlug } from "./slug.ts";
import type { ToolDeclaration } from "./tools.ts";

/** What a reader may decide before an import. Choices that do not apply are reported, not guessed at. */
export interface Choices {
  /** Wire ids that may take their own name although local texts wait for it. */
  readonly fill: readonly string[];
  /** "Keep mine": the item is not imported, mentions of it go to this local skill. */
  readonly keep: readonly { readonly wireId: string; readonly localId: string }[];
  /** Wire ids to import beside, although "keep mine" is remembered for them. */
  readonly beside: readonly string[];
}

/** The default: everything that differs is imported beside. */
export const noChoices: Choices = { fill: [], keep: [], beside: [] };

/** Where one item lands, and why there. */
export interface Landing {
  readonly item: SkillItem;
  readonly slug: string;
  readonly kind: "own" | "renamed" | "filled" | "identical" | "kept";
}

/** What landing looks at. */
export interface LandingInput {
  readonly skills: readonly Skill[];
  readonly origins: Origins;
  readonly tools: readonly ToolDeclaration[];
  readonly onDemandNames: readonly string[];
  readonly bundle: Bundle;
  readonly choices: Choices;
}

/** Where everything lands, and what else could be chosen. */
export interface Landings {
  /** One per item, in bundle order. */
  readonly landings: readonly Landing[];
  /** Local skills that wait for a wire id which nothing else keeps from its own name. */
  readonly fillable: ReadonlyMap<string, readonly string[]>;
  /** Local skills that could be kept instead of an item: edited copies first, then the holder of its name. */
  readonly keepable: ReadonlyMap<string, readonly string[]>;
  /** Wire ids of choices that do not apply to this bundle and this namespace. */
  readonly ignoredChoices: readonly string[];
}

/** Decides about every item. Pure: the same input lands the same way. */
export function planLandings(input: LandingInput): Landings {
  const items = itemsOf(input.bundle);
  const registry = openRegistry(input.skills, input.tools);
  const skillById = new Map(input.skills.map((skill) => [skill.id, skill]));
  const ofCode = heldByCode(input.tools, input.onDemandNames);
  const waiting = waitingNames(registry);
  const isOpen = (slug: string): boolean =>
    isUsableSlug(slug) && !ofCode(slug) && !skillById.has(slug);

  const fillable = new Map(
    items.flatMap(({ id }) => {
      const waitingHere = waiting.get(id);
      return waitingHere !== undefined && isOpen(id) ? [[id, waitingHere] as const] : [];
    }),
  );
  const keepable = new Map(
    items.map(({ id }) => [id, keepCandidates(id, input.origins, skillById)]),
  );
  // Choices come before identity: a parent whose child is kept or fills a hole is then no duplicate.
  const { chosen, ignoredChoices } = applyChoices(input, fillable, keepable, skillById);
  const settled = new Map([...chosen].map(([wireId, choice]) => [wireId, choice.slug]));
  const identical = identicalCopies({ ...input, skillById, settled });

  // Own names first, so that a new name cannot take one that a later item still needs.
  const taken = new Set([
    ...skillById.keys(),
    ...items.map((item) => item.id),
    ...waiting.keys(),
    ...items.flatMap((item) =>
      unknownMentions(item.detailedBody, registry).filter(
        (slug) => !items.some((other) => other.id === slug),
      ),
    ),
  ]);
  const landings = items.map((item): Landing => {
    const choice = chosen.get(item.id);
    if (choice !== undefined) return { item, ...choice };
    const copy = identical.get(item.id);
    if (copy !== undefined) return { item, slug: copy, kind: "identical" };
    if (isOpen(item.id) && !waiting.has(item.id)) return { item, slug: item.id, kind: "own" };
    const slug = mintSlug(item.name, (candidate) => ofCode(candidate) || taken.has(candidate));
    taken.add(slug);
    return { item, slug, kind: "renamed" };
  });
  return { landings, fillable, keepable, ignoredChoices };
}

/** Wire id → slug for every item: what mentions of bundle items become. */
export function landingMap(landings: readonly Landing[]): ReadonlyMap<string, string> {
  return new Map(landings.map((landing) => [landing.item.id, landing.slug]));
}

type Chosen = Pick<Landing, "slug" | "kind">;

function applyChoices(
  { bundle, origins, choices }: LandingInput,
  fillable: ReadonlyMap<string, readonly string[]>,
  keepable: ReadonlyMap<string, readonly string[]>,
  skillById: ReadonlyMap<string, Skill>,
): { readonly chosen: ReadonlyMap<string, Chosen>; readonly ignoredChoices: readonly string[] } {
  const chosen = new Map<string, Chosen>();
  const ignoredChoices: string[] = [];
  for (const wireId of choices.fill) {
    if (fillable.has(wireId)) chosen.set(wireId, { slug: wireId, kind: "filled" });
    else ignoredChoices.push(wireId);
  }
  for (const { wireId, localId } of choices.keep) {
    if (!chosen.has(wireId) && (keepable.get(wireId) ?? []).includes(localId)) {
      chosen.set(wireId, { slug: localId, kind: "kept" });
    } else ignoredChoices.push(wireId);
  }
  for (const item of itemsOf(bundle)) {
    if (chosen.has(item.id) || choices.beside.includes(item.id)) continue;
    const remembered = rememberedChoice(item, origins, skillById);
    if (remembered !== undefined) chosen.set(item.id, { slug: remembered, kind: "kept" });
  }
  return { chosen, ignoredChoices };
}

function rememberedChoice(
  item: SkillItem,
  origins: Origins,
  skillById: ReadonlyMap<string, Skill>,
): string | undefined {
  const choices = origins.kept.filter((kept) => kept.wireId === item.id);
  if (choices.length === 0) return undefined;
  const wireHash = itemHash(item);
  return choices.find((kept) => kept.wireHash === wireHash && skillById.has(kept.localId))?.localId;
}

function keepCandidates(
  wireId: string,
  origins: Origins,
  skillById: ReadonlyMap<string, Skill>,
): readonly string[] {
  const copies = origins.copies
    .filter((origin) => origin.wire.id === wireId)
    .map((origin) => origin.localId);
  return [...new Set([...copies, wireId])].filter((id) => skillById.has(id));
}
