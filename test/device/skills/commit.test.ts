import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createSkill,
  deleteSkill,
  editSkill,
  renameSkill,
  resolveHandle,
  switchSkill,
  type Draft,
  type FixedNames,
} from "../../../src/device/skills/commit.ts";
import { parseMentions } from "../../../src/device/skills/mentions.ts";
import { noOrigins } from "../../../src/device/skills/origins.ts";
import { unknownMentions, openRegistry } from "../../../src/device/skills/registry.ts";
import {
  applyRenames,
  renameErrorText,
  yieldToTools,
  type Catalogue,
} from "../../../src/device/skills/rename.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import type { Result } from "../../../src/shared/result.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { skill } from "./sample.ts";

const fixed: FixedNames = { tools: toolSet, onDemandNames: ["weather"] };

function catalogue(skills: readonly Skill[], baseInstructions = ""): Catalogue {
  return { skills, origins: noOrigins, baseInstructions };
}

function draft(handle: string, detailedBody = "Do it.", more: Partial<Draft> = {}): Draft {
  return { handle, name: undefined, shortDescription: "What it is for.", detailedBody, ...more };
}

function value<T>(result: Result<T, object>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const bodies = (saved: { catalogue: Catalogue }): readonly string[] =>
  saved.catalogue.skills.map((row) => row.detailedBody);

describe("creating", () => {
  it("mints the slug, derives the name, and starts enabled and off the menu", () => {
    const saved = value(createSkill(catalogue([]), fixed, draft("Meeting prep", "Use @calendar.")));
    expect(saved.catalogue.skills).toEqual([
      {
        id: "meeting-prep",
        name: "Meeting Prep",
        shortDescription: "What it is for.",
        detailedBody: "Use @calendar.",
        enabled: true,
        advertised: false,
        nameIsSet: false,
      },
    ]);
  });

  it.each([
    ["calendar", "calendar-2"],
    ["skill", "skill-2"],
    ["calltool", "calltool-2"],
    ["ToolSearch", "toolsearch-2"],
    ["Weather", "weather-2"],
    ["taken", "taken-2"],
  ])("never takes the name of another holder: %s", (handle, slug) => {
    expect(value(createSkill(catalogue([skill("taken")]), fixed, draft(handle))).id).toBe(slug);
  });

  it("refuses an empty handle, blank texts and unknown mentions; a self-mention is legal", () => {
    expect(createSkill(catalogue([]), fixed, draft("会议"))).toMatchObject({
      error: { type: "empty-handle" },
    });
    expect(createSkill(catalogue([]), fixed, draft("a", " \n"))).toMatchObject({
      error: { type: "invalid-texts", problems: [{ type: "blank", field: "detailedBody" }] },
    });
    expect(createSkill(catalogue([]), fixed, draft("a", "@what and @ever"))).toMatchObject({
      error: { type: "unknown-mentions", slugs: ["what", "ever"] },
    });
    expect(createSkill(catalogue([]), fixed, draft("a", "again @a")).ok).toBe(true);
  });

  it("turns line breaks of one-line texts, and controls, into one space", () => {
    const saved = value(
      createSkill(
        catalogue([]),
        fixed,
        draft("a", "one\r\n\ttwo\u001b[2Jx\u0085y", {
          name: "A\r\nB",
          shortDescription: "x\u2028y\u2029\u000bz\tw",
        }),
      ),
    );
    expect(saved.catalogue.skills[0]).toMatchObject({
      name: "A B",
      shortDescription: "x y z w",
      detailedBody: "one\r\n\ttwo [2Jx y",
    });
  });

  it("A10: a reused name tells whom it changes", () => {
    const holed = catalogue([skill("a", "@gone"), skill("b", "@gone"), skill("c")]);
    expect(value(createSkill(holed, fixed, draft("gone"))).alsoChanges).toEqual(["a", "b"]);
  });
});

describe("editing", () => {
  it("keeps the slug of an unchanged handle, whatever else changes", () => {
    const before = catalogue([skill("a--b"), skill("prep"), skill("prep-2")]);
    for (const id of ["a--b", "prep-2"]) {
      const saved = value(editSkill(before, fixed, id, draft(id, "New steps.")));
      expect(saved.id).toBe(id);
      expect(saved.cascaded).toEqual([]);
    }
    expect(resolveHandle(before.skills, fixed, "Prep", "prep-2")).toBe("prep-2");
    expect(resolveHandle(before.skills, fixed, "prep")).toBe("prep-3");
  });

  it("renames with cascade over every body, its own too, summaries and base instructions", () => {
    const before = catalogue(
      [
        skill("plan", "see @Plan and @plan-trip"),
        skill("plan-trip", "@plan!", { shortDescription: "like @plan" }),
      ],
      "Prefer @plan.",
    );
    const saved = value(editSkill(before, fixed, "plan", draft("scheme", "see @plan, @plan-trip")));
    expect(saved.id).toBe("scheme");
    expect(bodies(saved)).toEqual(["see @scheme, @plan-trip", "@scheme!"]);
    expect(saved.catalogue.skills[1]?.shortDescription).toBe("like @scheme");
    expect(saved.catalogue.baseInstructions).toBe("Prefer @scheme.");
    expect(saved.cascaded).toEqual(["plan-trip"]);
    expect(saved.catalogue.skills[0]?.name).toBe("Scheme");
  });

  it("offers a new name instead of taking one that the author set", () => {
    const before = catalogue([skill("plan", "x", { name: "My Plan", nameIsSet: true })]);
    const saved = value(renameSkill(before, fixed, "plan", "scheme"));
    expect(saved.catalogue.skills[0]).toMatchObject({ id: "scheme", name: "My Plan" });
    expect(saved.suggestedName).toBe("Scheme");
    const named = value(editSkill(before, fixed, "plan", draft("plan", "x", { name: "Mine" })));
    expect(named.catalogue.skills[0]).toMatchObject({ name: "Mine", nameIsSet: true });
  });

  it("refuses only unknown mentions that the stored version does not have", () => {
    const before = catalogue([skill("a", "@old-hole")]);
    expect(editSkill(before, fixed, "a", draft("a", "@old-hole @new-hole"))).toMatchObject({
      error: { type: "unknown-mentions", slugs: ["new-hole"] },
    });
    const saved = value(editSkill(before, fixed, "a", draft("a", "still @old-hole")));
    expect(saved.stillUnknown).toEqual(["old-hole"]);
  });

  it("tells whom a rename into a hole changes", () => {
    const before = catalogue([skill("a", "@gone"), skill("b")]);
    expect(value(renameSkill(before, fixed, "b", "gone")).alsoChanges).toEqual(["a"]);
  });

  it("refuses a rename that takes a body over its cap, and names the skill", () => {
    const full = `@b ${"x".repeat(8_189)}`;
    const before = catalogue([skill("a", full), skill("b")]);
    const result = renameSkill(before, fixed, "b", "bb");
    const error = {
      type: "rename-over-cap",
      id: "a",
      field: "detailedBody",
      got: 8_193,
      limit: 8_192,
    } as const;
    expect(result).toEqual({ ok: false, error });
    expect(renameErrorText(error)).toContain("the instruction of @a would grow to 8193 bytes");
    expect(renameSkill(before, fixed, "b", "c").ok).toBe(true);
  });

  it("counts the caps as they are written: code points for name and summary, bytes for the body", () => {
    const emoji = "😀";
    const fits = draft("a", "é".repeat(4_096), {
      name: emoji.repeat(80),
      shortDescription: emoji.repeat(600),
    });
    expect(createSkill(catalogue([]), fixed, fits).ok).toBe(true);
    for (const [change, field] of [
      [{ name: emoji.repeat(81) }, "name"],
      [{ shortDescription: emoji.repeat(601) }, "shortDescription"],
      [{ detailedBody: `${"é".repeat(4_096)}x` }, "detailedBody"],
    ] as const) {
      expect(createSkill(catalogue([]), fixed, { ...fits, ...change })).toMatchObject({
        error: { type: "invalid-texts", problems: [{ type: "too-long", field }] },
      });
    }
  });

  it("A6, A8: links follow the slug, whatever its case, never the display name", () => {
    const before = catalogue([
      skill("skill123", "x", { name: "Same" }),
      skill("skill123-2", "y", { name: "Same" }),
      skill("user", "@Skill123 then @SKILL123-2"),
    ]);
    const saved = value(renameSkill(before, fixed, "skill123", "other"));
    expect(bodies(saved)).toEqual(["x", "y", "@other then @SKILL123-2"]);
  });
});

describe("deleting and switching", () => {
  const before = catalogue([skill("a", "@b"), skill("b", "@b"), skill("c")], "See @b.");

  it("names the referrers and waits for the confirmation", () => {
    expect(deleteSkill(before, "b", false)).toEqual({
      ok: false,
      error: { type: "needs-confirmation", referrers: ["a"], mentionedInBaseInstructions: true },
    });
    const deleted = value(deleteSkill(before, "b", true));
    expect(bodies(deleted)).toEqual(["@b", "Do c."]);
    const registry = openRegistry(deleted.catalogue.skills);
    expect(unknownMentions("@b", registry)).toEqual(["b"]);
    expect(deleteSkill(before, "zz", true).ok).toBe(false);
  });

  it("sets one switch without the other", () => {
    const switched = value(switchSkill(before, "c", { advertised: true }));
    expect(switched.skills[2]).toMatchObject({ enabled: true, advertised: true });
    expect(value(switchSkill(switched, "c", { enabled: false })).skills[2]).toMatchObject({
      enabled: false,
      advertised: true,
    });
    expect(switchSkill(before, "zz", {}).ok).toBe(false);
  });
});

describe("an upgrade that brings a tool", () => {
  it("moves the skill out of the way, with cascade and a notice", () => {
    const tool = { ...toolSet[0]!, slug: "weather-now" };
    const before = catalogue([skill("weather-now"), skill("trip", "@weather-now")]);
    const moved = value(yieldToTools(before, [...toolSet, tool]));
    expect(moved.notices).toEqual([
      { type: "slug-taken-by-tool", from: "weather-now", to: "weather-now-2" },
    ]);
    expect(moved.catalogue.skills.map((row) => row.id)).toEqual(["weather-now-2", "trip"]);
    expect(bodies(moved)).toEqual(["Do weather-now.", "@weather-now-2"]);
  });
});

describe("renaming, for any population", () => {
  const slugs = ["plan", "plan-trip", "trip", "a", "hole"];
  const population = fc
    .tuple(
      ...slugs
        .slice(0, 4)
        .map(() => fc.array(fc.constantFrom(...slugs, "calendar"), { maxLength: 4 })),
    )
    .map((mentions) =>
      mentions.map((list, index) =>
        skill(slugs[index] ?? "", `x ${list.map((slug) => `@${slug}`).join(" ")}`),
      ),
    );

  it("never creates or loses a reference", () => {
    fc.assert(
      fc.property(
        population,
        fc.constantFrom("plan", "plan-trip", "trip", "a"),
        fc.constantFrom("plan", "trip", "hole", "calendar", "new name", "plan-trip-2"),
        (skills, id, handle) => {
          const saved = value(renameSkill(catalogue(skills), fixed, id, handle));
          for (const [index, row] of saved.catalogue.skills.entries()) {
            const expected = parseMentions(skills[index]?.detailedBody ?? "").map((slug) =>
              slug === id ? saved.id : slug,
            );
            expect(parseMentions(row.detailedBody)).toEqual([...new Set(expected)]);
            expect(row.id).toBe(skills[index]?.id === id ? saved.id : skills[index]?.id);
          }
          expect(() => openRegistry(saved.catalogue.skills)).not.toThrow();
        },
      ),
    );
  });

  it("applies any permutation of names at once, and its inverse undoes it", () => {
    const ids = slugs.slice(0, 4);
    fc.assert(
      fc.property(population, fc.shuffledSubarray(ids, { minLength: 4 }), (skills, to) => {
        const map = new Map(ids.map((id, index) => [id, to[index] ?? id]));
        const inverse = new Map([...map].map(([a, b]) => [b, a]));
        const there = value(applyRenames(catalogue(skills), map));
        expect(value(applyRenames(there, inverse)).skills).toEqual(skills);
      }),
    );
  });
});
