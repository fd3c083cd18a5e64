import { describe, expect, it } from "vitest";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import type { Bundle } from "../../../src/device/skills/bundle.ts";
import { noChoices } from "../../../src/device/skills/landing.ts";
import { acceptMerge, type MergeInput } from "../../../src/device/skills/merge.ts";
import { reviewBundle, type Review } from "../../../src/device/skills/review.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import { bundle, into, item, mergeInput, skill } from "./sample.ts";

function review(
  skills: readonly Skill[],
  incoming: Bundle,
  more: Partial<MergeInput> = {},
): Review {
  return reviewBundle(mergeInput(skills, incoming, more));
}

describe("the review", () => {
  const incoming = bundle(
    item("trip", "ask @plan, @mine, @calendar, @gone; x/@plan does not count; @also-gone"),
    item("plan", "use @find-file"),
  );
  const local = [skill("plan", "my plan"), skill("mine", "@deep @grep-memory"), skill("deep", "d")];
  const shown = review(local, incoming);

  it("puts unresolved mentions first, and says what becomes of them", () => {
    expect(shown.unresolved).toEqual(["gone", "also-gone"]);
    expect(shown.unresolvedLine).toBe(
      "References not available here: @gone, @also-gone. Those steps will be skipped.",
    );
    expect(review([], bundle(item("a"))).unresolvedLine).toBeUndefined();
  });

  it("shows every item whole, as it arrived and as it would be stored", () => {
    expect(shown.items.map(({ wire, kind, resulting }) => [wire.id, kind, resulting.id])).toEqual([
      ["trip", "own", "trip"],
      ["plan", "renamed", "plan-2"],
    ]);
    expect(shown.items[0]?.resulting.detailedBody).toBe(
      "ask @plan-2, @mine, @calendar, @gone; x/@plan does not count; @also-gone",
    );
    expect(shown.items[0]?.wire).toEqual(incoming.skill);
  });

  it("shows the local skill that stands for an identical item", () => {
    const own = skill("plan", "use @find-file", { shortDescription: "mine", advertised: true });
    const item1 = review([own], incoming).items[1];
    expect(item1).toMatchObject({ kind: "identical", resulting: own, keepable: [], fills: [] });
  });

  it("lists the tools in reach, and which of them are new to this reader", () => {
    expect(shown.tools.map((tool) => tool.slug)).toEqual(["find-file", "grep-memory", "calendar"]);
    expect(shown.newTools.map((tool) => tool.slug)).toEqual(["find-file", "calendar"]);
    expect(review(builtinSkills, incoming).newTools).toEqual([]);
  });

  it("lists the reader's own skills that it would call, those behind them included", () => {
    expect(shown.ownSkillsCalled).toEqual(["mine", "deep"]);
  });

  it("lists near misses", () => {
    expect(shown.items[0]?.nearMisses).toMatchObject([
      { slug: "plan", refusal: "before", character: "/" },
    ]);
  });

  it("offers what may be kept and what may be filled", () => {
    expect(shown.items.map(({ keepable }) => keepable)).toEqual([[], ["plan"]]);
    const holed = review([skill("r", "@plan"), skill("s", "@plan")], incoming);
    expect(holed.items.map(({ fills }) => fills)).toEqual([[], ["r", "s"]]);
  });

  it("marks what new names took over the cap", () => {
    const long = review(local, bundle(item("a", `@plan ${"x".repeat(8_186)}`), item("plan")));
    expect(long.items.map(({ tooLongToShare }) => tooLongToShare)).toEqual([true, false]);
  });

  it("previews the outcome, and its hash accepts exactly that", () => {
    expect(shown.outcomeLines).toEqual([
      "Imported @trip.",
      "@plan was taken — imported as @plan-2.",
    ]);
    expect(acceptMerge(mergeInput(local, incoming), shown.acceptHash)).toMatchObject({
      ok: true,
      value: { outcome: shown.outcome },
    });
    const other = mergeInput(local, incoming, {
      choices: { ...noChoices, keep: [{ wireId: "plan", localId: "plan" }] },
    });
    expect(acceptMerge(other, shown.acceptHash).ok).toBe(false);
  });

  it("tells a change by the sender from one by the owner, and counts what comes along", () => {
    const first = into([], incoming);
    const changed = bundle(incoming.skill, item("plan", "use @list-devices"));
    const more = { origins: first.origins };
    const again = review(first.skills, changed, more);
    expect(again.items.map(({ changedBySender }) => changedBySender)).toEqual([[], ["plan"]]);
    expect(again.items.map(({ editedCopies }) => editedCopies)).toEqual([[], []]);
    expect(again.broughtAlong).toEqual(["trip"]);
    const stranger = review(first.skills, changed, { ...more, sender: "bob" });
    expect(stranger.items[1]?.changedBySender).toEqual([]);

    const edited = first.skills.map((row) =>
      row.id === "plan" ? { ...row, detailedBody: "my way" } : row,
    );
    const mine = review(edited, incoming, more);
    expect(mine.items.map(({ editedCopies }) => editedCopies)).toEqual([[], ["plan"]]);
    expect(mine.items[1]?.keepable).toEqual(["plan"]);
    expect(mine.broughtAlong).toEqual(["trip"]);
    expect(review(first.skills, incoming, more).broughtAlong).toEqual([]);
    const moved = into([skill("trip", "mine")], incoming);
    expect(review(moved.skills, changed, { origins: moved.origins }).broughtAlong).toEqual([
      "trip",
    ]);
  });

  it("stores nothing: the same input gives the same review", () => {
    expect(review(local, incoming)).toEqual(shown);
  });
});
