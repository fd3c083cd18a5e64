/**
 * Random histories of merges, edits, deletions, renames and creations over a few names, so that
 * everything collides with everything. After each merge the promises of an import are checked.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemsOf, type Bundle } from "../../../src/device/skills/bundle.ts";
import {
  createSkill,
  deleteSkill,
  editSkill,
  renameSkill,
} from "../../../src/device/skills/commit.ts";
import { expand } from "../../../src/device/skills/expand.ts";
import { noChoices, type Choices } from "../../../src/device/skills/landing.ts";
import { alignMentions } from "../../../src/device/skills/mentions.ts";
import { merge, type Merged } from "../../../src/device/skills/merge.ts";
import { isUnedited, noOrigins } from "../../../src/device/skills/origins.ts";
import { openRegistry } from "../../../src/device/skills/registry.ts";
import type { Catalogue } from "../../../src/device/skills/rename.ts";
import { shareBundle } from "../../../src/device/skills/share.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { assertNever } from "../../../src/shared/result.ts";
import { slowIdentities } from "../../reference/slow-identity.ts";
import { slowRewrite } from "../../reference/slow-mentions.ts";
import {
  bundleArbitrary,
  bundlesArbitrary,
  createArbitrary,
  mergeArbitrary,
  renameArbitrary,
  startArbitrary,
  type Step,
  stepArbitrary,
} from "./random-history.ts";
import { mergeInput, skill } from "./sample.ts";

const fixed = { tools: toolSet, onDemandNames: [] };

function mergeInto(state: Catalogue, bundle: Bundle, choices: Choices = noChoices): Merged {
  return merge(mergeInput(state.skills, bundle, { origins: state.origins, choices }));
}

/** Every choice that a merge without choices offers, or some of them. */
function offered(state: Catalogue, bundle: Bundle, choose: number): Choices {
  const { fillable, keepable } = mergeInto(state, bundle).landings;
  const keep = [...keepable].flatMap(([wireId, [localId]]) =>
    localId === undefined ? [] : [{ wireId, localId }],
  );
  switch (choose) {
    case 0:
      return { ...noChoices, fill: [...fillable.keys()] };
    case 1:
      return { ...noChoices, keep };
    case 2:
      return { fill: [...fillable.keys()].slice(0, 1), keep: keep.slice(0, 1), beside: ["b"] };
    default:
      return noChoices;
  }
}

/** One step, and the checks that every merge has to pass. An edit that is refused changes nothing. */
function step(state: Catalogue, bundles: readonly Bundle[], action: Step): Catalogue {
  if (action.type === "create") {
    const draft = { ...skill("x"), name: "One Name", handle: action.handle };
    const saved = createSkill(state, fixed, { ...draft, detailedBody: action.body });
    return saved.ok ? saved.value.catalogue : state;
  }
  if (action.type === "merge") {
    const bundle = bundles[action.bundle]!;
    const merged = mergeInto(state, bundle, offered(state, bundle, action.choose));
    checkMerge(state, bundle, merged);
    return { ...state, skills: merged.skills, origins: merged.origins };
  }
  const row = state.skills[action.at % Math.max(1, state.skills.length)];
  if (row === undefined) return state;
  switch (action.type) {
    case "rename": {
      const saved = renameSkill(state, fixed, row.id, action.handle);
      return saved.ok ? saved.value.catalogue : state;
    }
    case "edit": {
      const draft = { ...row, name: undefined, handle: row.id, detailedBody: action.body };
      const saved = editSkill(state, fixed, row.id, draft);
      return saved.ok ? saved.value.catalogue : state;
    }
    case "delete": {
      const deleted = deleteSkill(state, row.id, true);
      return deleted.ok ? deleted.value.catalogue : state;
    }
    default:
      return assertNever(action);
  }
}

function checkMerge(state: Catalogue, bundle: Bundle, merged: Merged): void {
  const after = { ...state, skills: merged.skills, origins: merged.origins };
  // The local list is a prefix of the result, and nobody shares a slug.
  expect(merged.skills.slice(0, state.skills.length)).toEqual(state.skills);
  const registry = openRegistry(merged.skills);
  checkMeaning(bundle, merged);
  checkExpansions(state, merged);
  checkIdentity(state, bundle, merged);
  // Whatever was new is an unedited copy of what arrived.
  for (const slug of merged.outcome.imported) {
    const local = registry.resolve(slug);
    const origin = merged.origins.copies.find((copy) => copy.localId === slug);
    expect(local?.kind === "skill" && origin && isUnedited(local.skill, origin)).toBe(true);
  }
  // Merging twice is merging once.
  const twice = mergeInto(after, bundle);
  expect(twice.outcome.imported).toEqual([]);
  expect(twice.skills).toEqual(merged.skills);
  expect(twice.origins).toEqual(merged.origins);
}

// Every reference inside the bundle resolves to the item it meant, and no other reference moves.
function checkMeaning(bundle: Bundle, merged: Merged): void {
  const slugByWireId = new Map(merged.outcome.landed.map(({ wireId, slug }) => [wireId, slug]));
  const isNew = new Set(merged.outcome.imported);
  const kept = new Set(merged.outcome.kept.map(({ wireId }) => wireId));
  for (const item of itemsOf(bundle)) {
    const slug = slugByWireId.get(item.id) ?? "";
    const local = merged.skills.find((row) => row.id === slug);
    expect(local).toBeDefined();
    if (local === undefined || kept.has(item.id)) continue;
    if (isNew.has(slug)) {
      expect(local.detailedBody).toBe(slowRewrite(item.detailedBody, slugByWireId));
    }
    for (const [mention, target] of alignMentions(item.detailedBody, local.detailedBody) ?? []) {
      if (slugByWireId.has(mention)) expect(target).toBe(slugByWireId.get(mention));
    }
  }
}

// No existing skill expands to anything else, except those that an accepted filling named.
function checkExpansions(state: Catalogue, merged: Merged): void {
  if (merged.outcome.filled.length > 0) return;
  const before = openRegistry(state.skills);
  const after = openRegistry(merged.skills);
  for (const { id } of state.skills) {
    expect(expand(after, [id])).toEqual(expand(before, [id]));
  }
}

// Without choices, the skipped items are a consistent assignment that no other one extends.
function checkIdentity(state: Catalogue, bundle: Bundle, merged: Merged): void {
  const { outcome } = merged;
  if (outcome.kept.length + outcome.filled.length > 0) return;
  const skipped = new Map(
    outcome.landed
      .filter(({ wireId }) => outcome.skippedIdentical.includes(wireId))
      .map(({ wireId, slug }) => [wireId, slug]),
  );
  const all = slowIdentities(itemsOf(bundle), state.skills, state.origins.copies);
  const sameAs = (other: ReadonlyMap<string, string>): boolean =>
    other.size === skipped.size && [...other].every(([key, slug]) => skipped.get(key) === slug);
  expect(all.some(sameAs)).toBe(true);
  expect(Math.max(...all.map((assignment) => assignment.size))).toBe(skipped.size);
}

function start(skills: readonly Skill[]): Catalogue {
  return { skills, origins: noOrigins, baseInstructions: "" };
}

describe("importing, for any history", () => {
  it("keeps every promise after every merge", () => {
    fc.assert(
      fc.property(
        startArbitrary,
        bundlesArbitrary,
        fc.array(stepArbitrary, { minLength: 1, maxLength: 12 }),
        (skills, bundles, steps) => {
          let state = start(skills);
          for (const action of steps) state = step(state, bundles, action);
          for (const bundle of bundles) checkMerge(state, bundle, mergeInto(state, bundle));
        },
      ),
      { numRuns: 180 },
    );
  });

  it("recognises a bundle after any renames, creations and other imports", () => {
    const harmless = fc.oneof(
      renameArbitrary,
      createArbitrary,
      mergeArbitrary.map((action) => ({ ...action, choose: 5 })),
    );
    fc.assert(
      fc.property(
        startArbitrary,
        bundlesArbitrary,
        fc.array(harmless, { maxLength: 10 }),
        (skills, bundles, steps) => {
          let state = start(skills);
          const first = mergeInto(state, bundles[0]);
          state = { ...state, skills: first.skills, origins: first.origins };
          for (const action of steps) state = step(state, bundles, action);
          const later = mergeInto(state, bundles[0]);
          expect(later.outcome.imported).toEqual([]);
          expect(later.skills).toEqual(state.skills);
        },
      ),
      { numRuns: 180 },
    );
  });

  it("loses nothing when two bundles come in either order", () => {
    fc.assert(
      fc.property(startArbitrary, bundleArbitrary, bundleArbitrary, (skills, one, other) => {
        for (const [first, second] of [
          [one, other],
          [other, one],
        ] as const) {
          let state = start(skills);
          for (const bundle of [first, second]) {
            const { skills: list, origins } = mergeInto(state, bundle);
            state = { ...state, skills: list, origins };
          }
          for (const bundle of [one, other]) {
            const again = mergeInto(state, bundle);
            expect(again.outcome.skippedIdentical).toHaveLength(itemsOf(bundle).length);
          }
        }
      }),
      { numRuns: 180 },
    );
  });

  it("recognises a skill that was passed on and comes back", () => {
    fc.assert(
      fc.property(startArbitrary, startArbitrary, bundleArbitrary, (mine, theirs, bundle) => {
        const here = mergeInto(start(mine), bundle);
        const shared = shareRoot(here);
        const state = { ...start(here.skills), origins: here.origins };
        expect(mergeInto(state, shared).outcome.imported).toEqual([]);
        const there = mergeInto(start(theirs), shared);
        const back = shareRoot(there);
        // A skill of theirs may stand for an item, or for something that is missing here.
        fc.pre(there.outcome.skippedIdentical.length === 0);
        fc.pre(itemsOf(back).length === itemsOf(shared).length);
        expect(mergeInto(state, back).outcome.imported).toEqual([]);
      }),
      { numRuns: 180 },
    );
  });
});

function shareRoot(merged: Merged): Bundle {
  const id = merged.outcome.landed[0]?.slug ?? "";
  const shared = shareBundle({ skills: merged.skills, origins: merged.origins, id });
  if (!shared.ok) throw new Error(shared.error.type);
  return shared.value;
}
