/**
 * Generators of histories: where one begins, the bundles that arrive in it, and its steps. Few names,
 * so that everything collides with everything. What a step does is histories.test.ts.
 */
import fc from "fast-check";
import type { Bundle } from "../../../src/device/skills/bundle.ts";
import { noOrigins } from "../../../src/device/skills/origins.ts";
import { shareBundle } from "../../../src/device/skills/share.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import { skill } from "./sample.ts";

const names = ["a", "b", "c", "calendar"];
const mentions = [...names, "hole", "find-file", "a-2"];

const bodyArbitrary = fc
  .tuple(
    fc.constantFrom("do", "try"),
    fc.array(fc.constantFrom(...mentions, "a", "b", "c"), { maxLength: 3 }),
  )
  .map(([verb, slugs]) => `${verb} ${slugs.map((slug) => `@${slug}`).join(" ")}.`);

const skillsArbitrary = (ids: readonly string[]): fc.Arbitrary<readonly Skill[]> =>
  fc
    .subarray([...ids], { minLength: 1 })
    .chain((chosen) =>
      fc.tuple(...chosen.map((id) => bodyArbitrary.map((body) => skill(id, body)))),
    )
    .map((skills) => skills.map((row) => ({ ...row, name: "One Name", nameIsSet: true })));

/** A sender's bundle. Senders have no tools, so that a skill of theirs may hold a tool's slug. */
export const bundleArbitrary: fc.Arbitrary<Bundle> = skillsArbitrary(names).map((skills) => {
  const shared = shareBundle({ skills, origins: noOrigins, tools: [], id: skills[0]?.id ?? "" });
  if (!shared.ok) throw new Error(shared.error.type);
  return shared.value;
});

/** What may happen to a list of skills. */
export type Step =
  | { readonly type: "merge"; readonly bundle: number; readonly choose: number }
  | { readonly type: "edit"; readonly at: number; readonly body: string }
  | { readonly type: "delete"; readonly at: number }
  | { readonly type: "rename"; readonly at: number; readonly handle: string }
  | { readonly type: "create"; readonly handle: string; readonly body: string };

const handleArbitrary = fc.constantFrom("a", "b", "c", "d", "hole", "a-2", "b-2", "one-name");
const at = fc.nat({ max: 30 });
/** A renaming. */
export const renameArbitrary: fc.Arbitrary<Step> = fc.record({
  type: fc.constant("rename"),
  at,
  handle: handleArbitrary,
});
/** A creation. */
export const createArbitrary: fc.Arbitrary<Step> = fc.record({
  type: fc.constant("create"),
  handle: handleArbitrary,
  body: bodyArbitrary,
});
/** A merge of one of three bundles. */
export const mergeArbitrary: fc.Arbitrary<Step> = fc.record({
  type: fc.constant("merge"),
  bundle: fc.nat({ max: 2 }),
  choose: fc.nat({ max: 5 }),
});
/** Any step. */
export const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: mergeArbitrary },
  { weight: 2, arbitrary: renameArbitrary },
  { weight: 1, arbitrary: createArbitrary },
  fc.record({ type: fc.constant("edit"), at, body: bodyArbitrary }),
  fc.record({ type: fc.constant("delete"), at }),
);

/** The bundles that a history may merge. */
export const bundlesArbitrary = fc.tuple(bundleArbitrary, bundleArbitrary, bundleArbitrary);
/** The skills that a history begins with. */
export const startArbitrary = skillsArbitrary(["a", "b", "c"]);
