/**
 * Skills, bundles and generators for the tests of the skills engine. Names are drawn from a small
 * alphabet on purpose: properties about collisions need collisions.
 */
import fc from "fast-check";
import type { Bundle } from "../../../src/device/skills/bundle.ts";
import { noChoices } from "../../../src/device/skills/landing.ts";
import { merge, type Merged, type MergeInput } from "../../../src/device/skills/merge.ts";
import { outcomeLines } from "../../../src/device/skills/outcome.ts";
import { noOrigins } from "../../../src/device/skills/origins.ts";
import type { Skill, SkillItem } from "../../../src/device/skills/skill.ts";
import { deriveName } from "../../../src/device/skills/slug.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";

/** An item whose name follows from its id. */
export function item(
  id: string,
  detailedBody = `Do ${id}.`,
  more: Partial<SkillItem> = {},
): SkillItem {
  return {
    id,
    name: deriveName(id) || id,
    shortDescription: `About ${id.replaceAll("-", " ")}.`,
    detailedBody,
    ...more,
  };
}

/** A local skill, enabled and off the menu. */
export function skill(id: string, detailedBody = `Do ${id}.`, more: Partial<Skill> = {}): Skill {
  return { ...item(id, detailedBody), enabled: true, advertised: false, nameIsSet: false, ...more };
}

/** A bundle of items, the first being the shared one. */
export function bundle(root: SkillItem, ...closure: readonly SkillItem[]): Bundle {
  return { skill: root, closure };
}

/** Input of a merge on an otherwise untouched device. */
export function mergeInput(
  skills: readonly Skill[],
  incoming: Bundle,
  more: Partial<MergeInput> = {},
): MergeInput {
  return {
    skills,
    origins: noOrigins,
    tools: toolSet,
    onDemandNames: [],
    bundle: incoming,
    choices: noChoices,
    sender: "alice",
    nowMs: 1_000,
    ...more,
  };
}

/** Merges into a list of skills without provenance, unless `more` brings some. */
export function into(
  skills: readonly Skill[],
  incoming: Bundle,
  more: Partial<MergeInput> = {},
): Merged {
  return merge(mergeInput(skills, incoming, more));
}

/** Merges into what another merge left behind. */
export function again(before: Merged, incoming: Bundle, more: Partial<MergeInput> = {}): Merged {
  return into(before.skills, incoming, { origins: before.origins, ...more });
}

/** Slugs after a merge, in stored order. */
export const ids = (merged: Merged): readonly string[] => merged.skills.map((row) => row.id);
/** The body of one skill after a merge. */
export const bodyOf = (merged: Merged, id: string): string | undefined =>
  merged.skills.find((row) => row.id === id)?.detailedBody;
/** What a merge says about itself. */
export const lines = (merged: Merged): readonly string[] => outcomeLines(merged.outcome);

/** Text that is rich in everything the mention rules look at. */
export const proseArbitrary = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom("@", "@a", "@b-c", "@plan", "@Plan-Trip", "@x-", "@calendar"),
      },
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          ...Array.from(" .,/\\_-()é感で\u0301\u200d\u00ad\u2010\u2011\u212aаωա½²𝐀Ａ😀\ufe0f\n`"),
          "a",
          "B",
          "7",
          "\ud800",
          "\udc00",
        ),
      },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3 }) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));
