/**
 * Where skills came from: what arrived, as whom it landed, who sent it, and which local skill its
 * owner chose to keep instead. This is what makes a second import of the same bundle a no-op after
 * re-slugs and renames. Plain data that the store writes beside the skills, in one transaction.
 *
 * It never decides whether something is imported; `identity.ts` and `merge.ts` do.
 * Spec: docs/skills.md "Origins".
 */
import { parseMentions, rewriteMentions, sameProse } from "./mentions.ts";
import type { Skill, SkillItem } from "./skill.ts";

/** What a mention of the wire body means here. A list of pairs, since any slug may be a key. */
export interface Pin {
  readonly mention: string;
  readonly slug: string;
}

/** One arrival of the same content. */
export interface Arrival {
  /** The sender's account, or undefined for a file. */
  readonly aik: string | undefined;
  /** Units: ms since 1970 UTC. */
  readonly atMs: number;
  readonly bundleHash: string;
}

/** The tie between a local skill and an item that arrived. */
export interface Origin {
  readonly localId: string;
  /** False when the owner already had this content and the arrival was only recognised. */
  readonly imported: boolean;
  /** The item as it arrived; its id is the wire id. */
  readonly wire: SkillItem;
  /** Mentions that meant another item of the bundle. */
  readonly intra: readonly string[];
  /** One for every mention of the wire body. */
  readonly pins: readonly Pin[];
  /** Mentions that named nothing at import and that the owner was not asked about since. */
  readonly unresolved: readonly string[];
  /** The bundle that brought it. */
  readonly bundleHash: string;
  /** One per sender, the first first. */
  readonly senders: readonly Arrival[];
}

/** "Keep mine", remembered: this wire content stands for that local skill. */
export interface KeptChoice {
  readonly wireId: string;
  /** `itemHash` of the item that was not imported. */
  readonly wireHash: string;
  readonly localId: string;
}

/** All provenance of one person's skills. */
export interface Origins {
  readonly copies: readonly Origin[];
  readonly kept: readonly KeptChoice[];
}

/** Provenance of a fresh device. */
export const noOrigins: Origins = { copies: [], kept: [] };

/** The pins of an origin for `rewriteMentions`. */
function pinMap(origin: Origin): ReadonlyMap<string, string> {
  return new Map(origin.pins.map((pin) => [pin.mention, pin.slug]));
}

/** Whether a local skill still is what arrived: same name, and the wire body as the pins rewrite it. */
export function isUnedited(local: Skill, origin: Origin): boolean {
  return (
    local.name === origin.wire.name &&
    sameProse(local.detailedBody, rewriteMentions(origin.wire.detailedBody, pinMap(origin)))
  );
}

/** Follows a rename of local skills: who the copies are, and what their mentions mean now. */
export function renameInOrigins(origins: Origins, renames: ReadonlyMap<string, string>): Origins {
  const renamed = (slug: string): string => renames.get(slug) ?? slug;
  return {
    copies: origins.copies.map((origin) => ({
      ...origin,
      localId: renamed(origin.localId),
      pins: origin.pins.map((pin) => ({ ...pin, slug: renamed(pin.slug) })),
    })),
    kept: origins.kept.map((choice) => ({ ...choice, localId: renamed(choice.localId) })),
  };
}

/** Forgets a deleted skill: if it arrives again it counts as new, whoever holds its slug by then. */
export function dropFromOrigins(origins: Origins, localId: string): Origins {
  return {
    copies: origins.copies.filter((origin) => origin.localId !== localId),
    kept: origins.kept.filter((choice) => choice.localId !== localId),
  };
}

/** Unedited copies of the given wire ids, with their origins: wire id → copies, the oldest first. */
export function uneditedCopies(
  origins: Origins,
  skillById: ReadonlyMap<string, Skill>,
  wireIds: ReadonlySet<string>,
): ReadonlyMap<string, readonly { readonly local: Skill; readonly origin: Origin }[]> {
  const copies = new Map<string, { readonly local: Skill; readonly origin: Origin }[]>();
  for (const origin of origins.copies) {
    if (!wireIds.has(origin.wire.id)) continue;
    const local = skillById.get(origin.localId);
    if (local === undefined || !isUnedited(local, origin)) continue;
    copies.set(origin.wire.id, [...(copies.get(origin.wire.id) ?? []), { local, origin }]);
  }
  return copies;
}

/** A mention of an imported skill that named nothing at import and names a tool now. */
export interface Healing {
  readonly localId: string;
  readonly slug: string;
}

/** Tools that imported skills would start to reach: the owner is asked once about each. */
export function pendingHealings(
  skills: readonly Skill[],
  origins: Origins,
  isTool: (slug: string) => boolean,
): readonly Healing[] {
  const skillById = new Map(skills.map((skill) => [skill.id, skill]));
  const found = new Map<string, Healing>();
  for (const origin of origins.copies) {
    const local = skillById.get(origin.localId);
    if (local === undefined || !origin.imported) continue;
    const mentions = new Set(parseMentions(local.detailedBody));
    for (const slug of origin.unresolved) {
      if (!isTool(slug) || !mentions.has(slug)) continue;
      found.set(`${local.id} ${slug}`, { localId: local.id, slug });
    }
  }
  return [...found.values()];
}

/** Remembers that the owner allowed a healing, so that nobody asks again. */
export function acceptHealing(origins: Origins, healing: Healing): Origins {
  return {
    ...origins,
    copies: origins.copies.map((origin) =>
      origin.localId === healing.localId
        ? { ...origin, unresolved: origin.unresolved.filter((slug) => slug !== healing.slug) }
        : origin,
    ),
  };
}
