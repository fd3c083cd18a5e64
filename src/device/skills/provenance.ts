/**
 * The provenance that an import leaves behind: an origin for every item that landed or was
 * recognised, and the choices to remember. Without it a second import could not see that it is one.
 *
 * Spec: docs/skills.md "Origins".
 */
import { bundleHash, wireItem, type Bundle } from "./bundle.ts";
import { itemHash } from "./item-hash.ts";
import type { Landing } from "./landing.ts";
import { alignMentions, parseMentions } from "./mentions.ts";
import type { Arrival, KeptChoice, Origin, Origins, Pin } from "./origins.ts";
import type { Skill, SkillItem } from "./skill.ts";

/** What recording needs to know about one import. */
export interface Recording {
  readonly bundle: Bundle;
  readonly landings: readonly Landing[];
  /** The whole list after the import. */
  readonly skills: readonly Skill[];
  readonly isKnown: (slug: string) => boolean;
  /** The sender's account, or undefined for a file. */
  readonly sender: string | undefined;
  readonly nowMs: number;
}

/** Provenance after an import. Recording the same arrival twice changes nothing. */
export function recordImport(origins: Origins, recording: Recording): Origins {
  const hash = bundleHash(recording.bundle);
  const arrival: Arrival = { aik: recording.sender, atMs: recording.nowMs, bundleHash: hash };
  const skillById = new Map(recording.skills.map((skill) => [skill.id, skill]));
  const ids = new Set(recording.landings.map((landing) => landing.item.id));

  let copies = origins.copies;
  for (const { item, slug, kind } of recording.landings) {
    const local = skillById.get(slug);
    if (local === undefined || kind === "kept") continue;
    const pins = pinsOf(item, local);
    // Another release's text of a built-in: the same skill, but nothing here is its copy.
    if (pins === undefined) continue;
    const intra = parseMentions(item.detailedBody).filter((mention) => ids.has(mention));
    const fresh = { localId: slug, wire: wireItem(item), intra, pins };
    if (kind === "identical") {
      copies = withRecognised(copies, fresh, arrival);
      continue;
    }
    const unresolved = parseMentions(item.detailedBody).filter(
      (mention) => !ids.has(mention) && !recording.isKnown(mention),
    );
    // Whatever was known about an earlier, deleted holder of this slug is not about this skill.
    copies = [
      ...copies.filter((origin) => origin.localId !== slug),
      { ...fresh, imported: true, unresolved, bundleHash: hash, senders: [arrival] },
    ];
  }
  return { copies, kept: rememberedAfter(origins.kept, recording.landings) };
}

function withRecognised(
  copies: readonly Origin[],
  fresh: Pick<Origin, "localId" | "wire" | "intra" | "pins">,
  arrival: Arrival,
): readonly Origin[] {
  const index = copies.findIndex(
    (origin) => origin.localId === fresh.localId && origin.wire.id === fresh.wire.id,
  );
  const known = copies[index];
  if (known === undefined) {
    const { bundleHash: hash } = arrival;
    const recognised = { imported: false, unresolved: [], bundleHash: hash, senders: [arrival] };
    return [...copies, { ...fresh, ...recognised }];
  }
  const senders = known.senders.some((sender) => sender.aik === arrival.aik)
    ? known.senders
    : [...known.senders, arrival];
  return copies.with(index, { ...known, ...fresh, senders });
}

function pinsOf(item: SkillItem, local: Skill): readonly Pin[] | undefined {
  const pairs = alignMentions(item.detailedBody, local.detailedBody);
  if (pairs === undefined) return undefined;
  return [...new Map(pairs)].map(([mention, slug]) => ({ mention, slug }));
}

function rememberedAfter(
  kept: readonly KeptChoice[],
  landings: readonly Landing[],
): readonly KeptChoice[] {
  let remembered = kept;
  for (const { item, slug, kind } of landings) {
    const wireHash = itemHash(item);
    const isSame = (choice: KeptChoice): boolean =>
      choice.wireId === item.id && choice.wireHash === wireHash;
    const before = remembered.find(isSame);
    if (kind !== "kept") remembered = remembered.filter((choice) => !isSame(choice));
    else if (before?.localId !== slug) {
      remembered = [
        ...remembered.filter((choice) => !isSame(choice)),
        { wireId: item.id, wireHash, localId: slug },
      ];
    }
  }
  return remembered;
}
