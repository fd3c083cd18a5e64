/**
 * Import as a pure function: local skills, a bundle and the reader's choices in; the new list, its
 * provenance and a plain account of what happened out. The local list is a prefix of the result, byte
 * for byte. The review shows what this returns, and accepting runs it again and compares hashes.
 *
 * It stores nothing and asks nobody. Undo works from the provenance.
 * Spec: docs/skills.md "What an import does".
 */
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import type { Bundle } from "./bundle.ts";
import { contentHash, type Hashable } from "./item-hash.ts";
import { landingMap, planLandings, type Choices, type Landing, type Landings } from "./landing.ts";
import { rewriteMentions, sameProse } from "./mentions.ts";
import type { Origins } from "./origins.ts";
import type { ImportOutcome } from "./outcome.ts";
import { recordImport } from "./provenance.ts";
import { openRegistry } from "./registry.ts";
import { closureOf } from "./share.ts";
import type { Skill, SkillItem } from "./skill.ts";
import { isUsableSlug } from "./slug.ts";
import type { ToolDeclaration } from "./tools.ts";

/** Everything that an import depends on. */
export interface MergeInput {
  readonly skills: readonly Skill[];
  readonly origins: Origins;
  readonly tools: readonly ToolDeclaration[];
  /** Names of on-demand tools, which are reserved. */
  readonly onDemandNames: readonly string[];
  readonly bundle: Bundle;
  readonly choices: Choices;
  /** The sender's account, or undefined for a file. */
  readonly sender: string | undefined;
  /** Units: ms since 1970 UTC. */
  readonly nowMs: number;
}

/** What an import comes to. */
export interface Merged {
  readonly outcome: ImportOutcome;
  /** The local skills unchanged, then the new ones. */
  readonly skills: readonly Skill[];
  readonly origins: Origins;
  /** Name of what the reader saw: outcome, resulting bytes, and the local bodies that the bundle reaches. */
  readonly acceptHash: string;
  /** Where everything lands and what else could be chosen. */
  readonly landings: Landings;
}

/** Merges a bundle into a list of skills. */
export function merge(input: MergeInput): Merged {
  const plan = planLandings(input);
  const slugByWireId = landingMap(plan.landings);
  const arriving = plan.landings
    .filter((landing) => isNew(landing))
    .map((landing) => landedSkill(landing, slugByWireId));
  const skills = [...input.skills, ...arriving];
  const registry = openRegistry(input.skills, input.tools);
  const outcome = outcomeOf(plan, input.skills, slugByWireId);
  const origins = recordImport(input.origins, {
    bundle: input.bundle,
    landings: plan.landings,
    skills,
    isKnown: (slug) => registry.resolve(slug) !== undefined,
    sender: input.sender,
    nowMs: input.nowMs,
  });
  const acceptHash = contentHash([
    hashableOutcome(outcome),
    arriving.map(hashableItem),
    reachedLocalSkills(input, skills, outcome).map((skill) => [skill.id, skill.detailedBody]),
  ]);
  return { outcome, skills, origins, acceptHash, landings: plan };
}

/**
 * Carries out what a reader has reviewed. Errors: anything that the hash covers has changed since, so
 * that another review is due.
 */
export function acceptMerge(
  input: MergeInput,
  reviewedHash: string,
): Result<Merged, { readonly type: "review-outdated" }> {
  const merged = merge(input);
  return merged.acceptHash === reviewedHash ? ok(merged) : err({ type: "review-outdated" });
}

/** Whether a landing adds a skill. */
export function isNew(landing: Landing): boolean {
  switch (landing.kind) {
    case "own":
    case "renamed":
    case "filled":
      return true;
    case "identical":
    case "kept":
      return false;
    default:
      return assertNever(landing.kind);
  }
}

/** Local skills that the bundle's items reach once it has landed, disabled ones included. */
export function reachedLocalSkills(
  input: Pick<MergeInput, "skills" | "tools">,
  after: readonly Skill[],
  outcome: ImportOutcome,
): readonly Skill[] {
  const registry = openRegistry(after, input.tools);
  const localIds = new Set(input.skills.map((skill) => skill.id));
  const reached = new Map<string, Skill>();
  for (const { slug } of outcome.landed) {
    for (const skill of closureOf(registry, slug)) {
      if (localIds.has(skill.id)) reached.set(skill.id, skill);
    }
  }
  return [...reached.values()];
}

// Enabled, so that what mentions it works; unadvertised, because promotion is a consent of its own.
function landedSkill(landing: Landing, slugByWireId: ReadonlyMap<string, string>): Skill {
  return {
    id: landing.slug,
    name: landing.item.name,
    shortDescription: rewriteMentions(landing.item.shortDescription, slugByWireId),
    detailedBody: rewriteMentions(landing.item.detailedBody, slugByWireId),
    enabled: true,
    advertised: false,
    nameIsSet: true,
  };
}

function outcomeOf(
  { landings, fillable }: Landings,
  skills: readonly Skill[],
  slugByWireId: ReadonlyMap<string, string>,
): ImportOutcome {
  const skillById = new Map(skills.map((skill) => [skill.id, skill]));
  const ofKind = (kind: Landing["kind"]): readonly Landing[] =>
    landings.filter((landing) => landing.kind === kind);
  const identical = ofKind("identical");
  return {
    imported: landings.filter(isNew).map((landing) => landing.slug),
    renamed: ofKind("renamed").map(({ item, slug }) => ({
      from: item.id,
      to: slug,
      reason: isUsableSlug(item.id) ? "taken" : "unusable",
    })),
    skippedIdentical: identical.map(({ item }) => item.id),
    summaryDiffers: identical
      .filter(({ item, slug }) => {
        const local = skillById.get(slug)?.shortDescription ?? "";
        const landed = rewriteMentions(item.shortDescription, slugByWireId);
        return !sameProse(item.shortDescription, local) && !sameProse(landed, local);
      })
      .map(({ item }) => item.id),
    kept: ofKind("kept").map(({ item, slug }) => ({ wireId: item.id, slug })),
    filled: ofKind("filled").map(({ slug }) => ({ slug, changes: fillable.get(slug) ?? [] })),
    landed: landings.map(({ item, slug }) => ({ wireId: item.id, slug })),
  };
}

function hashableOutcome(outcome: ImportOutcome): Hashable {
  return [
    outcome.imported,
    outcome.renamed.map(({ from, to, reason }) => [from, to, reason]),
    outcome.skippedIdentical,
    outcome.summaryDiffers,
    outcome.kept.map(({ wireId, slug }) => [wireId, slug]),
    outcome.filled.map(({ slug, changes }) => [slug, changes]),
    outcome.landed.map(({ wireId, slug }) => [wireId, slug]),
  ];
}

function hashableItem({ id, name, shortDescription, detailedBody }: SkillItem): Hashable {
  return [id, name, shortDescription, detailedBody];
}
