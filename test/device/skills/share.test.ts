import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import { decodeBundle, encodeBundle, itemsOf } from "../../../src/device/skills/bundle.ts";
import { renameSkill } from "../../../src/device/skills/commit.ts";
import { merge } from "../../../src/device/skills/merge.ts";
import { noOrigins } from "../../../src/device/skills/origins.ts";
import { openRegistry } from "../../../src/device/skills/registry.ts";
import { closureOf, shareBundle, shareErrorText } from "../../../src/device/skills/share.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { slowClosure } from "../../reference/slow-graph.ts";
import { bundle, item, mergeInput, skill } from "./sample.ts";

function shared(skills: readonly Skill[], id: string, origins = noOrigins): readonly string[] {
  const result = shareBundle({ skills, origins, id });
  return result.ok ? itemsOf(result.value).map((other) => other.id) : [result.error.type];
}

describe("sharing", () => {
  it("packs the article's example: skills travel, tools stay", () => {
    expect(shared(builtinSkills, "search-info")).toEqual(["search-info", "fetch-file"]);
    expect(shared(builtinSkills, "check-schedule")).toEqual(["check-schedule"]);
  });

  it("takes disabled skills along and stops at cycles and holes", () => {
    const skills = [
      skill("a", "@c @b @hole"),
      skill("b", "@a", { enabled: false }),
      skill("c", "@b @c"),
      skill("d"),
    ];
    expect(shared(skills, "a")).toEqual(["a", "c", "b"]);
    expect(shared(skills, "zz")).toEqual(["no-such-skill"]);
  });

  it("refuses what does not fit and names the largest items", () => {
    const long = { ...skill("b"), detailedBody: "x".repeat(8_193) };
    const result = shareBundle({ skills: [skill("a", "@b"), long], origins: noOrigins, id: "a" });
    expect(result).toMatchObject({ error: { type: "item-does-not-fit", id: "b" } });
    const ids = Array.from({ length: 32 }, (_, index) => `i${index}`);
    const many = [skill("a", ids.map((id) => `@${id}`).join(" ")), ...ids.map((id) => skill(id))];
    expect(shared(many, "a")).toEqual(["too-many-items"]);
    const wide = many.slice(0, 32).map((row, index) =>
      index === 0
        ? {
            ...row,
            detailedBody: ids
              .slice(0, 31)
              .map((id) => `@${id}`)
              .join(" "),
          }
        : { ...row, detailedBody: "x".repeat(8_000 + index), shortDescription: "😀".repeat(300) },
    );
    const tooLarge = shareBundle({ skills: wide, origins: noOrigins, id: "a" });
    expect(tooLarge).toMatchObject({
      error: { type: "bundle-too-large", limit: 261_815, largest: [{ id: "i30" }, {}, {}] },
    });
    expect(tooLarge.ok ? "" : shareErrorText(tooLarge.error)).toContain("@i30 (");
  });

  it("equals the plain recursion, and what it packs always decodes", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const body = fc
      .array(fc.constantFrom(...ids, "calendar", "hole"), { maxLength: 4 })
      .map((mentions) => `Go. ${mentions.map((slug) => `@${slug}`).join(" ")}`);
    fc.assert(
      fc.property(fc.tuple(...ids.map(() => body)), (bodies) => {
        const skills = bodies.map((text, index) => skill(ids[index] ?? "", text));
        const slow = slowClosure(skills, "a");
        expect(closureOf(openRegistry(skills), "a").map((row) => row.id)).toEqual(slow);
        const result = shareBundle({ skills, origins: noOrigins, id: "a" });
        const encoded = result.ok ? encodeBundle(result.value) : "";
        expect(decodeBundle(encoded)).toEqual(result);
        expect(shared(skills, "a")).toEqual(slow);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("sharing on", () => {
  const incoming = bundle(item("trip", "@plan then @calendar"), item("plan", "steps, @plan"));
  const fixed = { tools: toolSet, onDemandNames: [] };
  const mine = skill("plan", "my own");
  const imported = merge(mergeInput([mine], incoming));

  it("uses the ids it came with where they are free", () => {
    expect(imported.skills.map((row) => row.id)).toEqual(["plan", "trip", "plan-2"]);
    const again = shareBundle({ skills: imported.skills, origins: imported.origins, id: "trip" });
    expect(again).toEqual({ ok: true, value: incoming });
  });

  it("keeps the local id where the wire id means something else in the bundle", () => {
    const other = skill("both", "@plan and @plan-2");
    expect(shared([...imported.skills, other], "both", imported.origins)).toEqual([
      "both",
      "plan",
      "plan-2",
    ]);
    // The mention of a deleted skill must not come to mean the copy.
    const hole = [...imported.skills.slice(1), skill("hole", "@plan and @plan-2")];
    expect(shared(hole, "hole", imported.origins)).toEqual(["hole", "plan-2"]);
  });

  it("keeps the local id of an edited copy, and of a skill that was only recognised", () => {
    const edited = imported.skills.map((row) =>
      row.id === "plan-2" ? { ...row, detailedBody: "better steps" } : row,
    );
    expect(shared(edited, "trip", imported.origins)).toEqual(["trip", "plan-2"]);
    const named = imported.skills.map((row) =>
      row.id === "plan-2" ? { ...row, name: "My Plan" } : row,
    );
    expect(shared(named, "trip", imported.origins)).toEqual(["trip", "plan-2"]);
    const recognised = merge(
      mergeInput(
        [skill("plan", "steps, @plan", { nameIsSet: true })],
        bundle(item("plan", "steps, @plan")),
      ),
    );
    const renamed = renameSkill(
      { skills: recognised.skills, origins: recognised.origins, baseInstructions: "" },
      fixed,
      "plan",
      "mine",
    );
    expect(
      renamed.ok && shared(renamed.value.catalogue.skills, "mine", renamed.value.catalogue.origins),
    ).toEqual(["mine"]);
  });
});
