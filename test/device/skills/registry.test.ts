import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtinSkills, isBuiltinText } from "../../../src/device/skills/builtin.ts";
import {
  expand,
  reachOfBody,
  toolsForPlan,
  withholdHealings,
} from "../../../src/device/skills/expand.ts";
import {
  admitHandles,
  annotateMentions,
  createRegistry,
  heldByCode,
  isPlanningOn,
  menuOf,
  namespaceErrorText,
  openRegistry,
  referrersOf,
  unknownMentions,
  waitingNames,
} from "../../../src/device/skills/registry.ts";
import { fieldProblems } from "../../../src/device/skills/skill.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { slowExpansion } from "../../reference/slow-graph.ts";
import { skill } from "./sample.ts";

const names = (tools: readonly { readonly toolName: string }[]): readonly string[] =>
  tools.map((tool) => tool.toolName);

describe("the six tools", () => {
  it("are a closed set with their two names", () => {
    expect(toolSet.map((tool) => [tool.slug, tool.toolName])).toEqual([
      ["check-notebook", "check_notebook"],
      ["find-file", "find_file"],
      ["list-devices", "list_devices"],
      ["grep-memory", "grep_memory"],
      ["current-date", "current_date"],
      ["calendar", "queryCalendar"],
    ]);
  });

  it("advertise only the date", () => {
    expect(toolSet.filter((tool) => tool.advertiseInMenu).map((tool) => tool.slug)).toEqual([
      "current-date",
    ]);
  });

  it("describe themselves in one line and sign with exactly their arguments", () => {
    for (const tool of toolSet) {
      expect(tool.description).toMatch(/^[^\n]+$/);
      expect(tool.parameters.required).toEqual(Object.keys(tool.parameters.properties));
      expect(tool.signature.startsWith(`${tool.toolName}(`)).toBe(true);
      for (const name of tool.parameters.required)
        expect(tool.signature).toContain(`${name}: string`);
    }
  });
});

describe("the built-ins", () => {
  const registry = openRegistry(builtinSkills);

  it("are seeded in stored order with their switches", () => {
    expect(builtinSkills.map(({ id, enabled, advertised }) => [id, enabled, advertised])).toEqual([
      ["search-info", true, true],
      ["check-schedule", true, true],
      ["fetch-file", true, false],
    ]);
  });

  it("bind exactly what the article says", () => {
    expect(names(toolsForPlan(registry, ["search-info"]))).toEqual([
      "check_notebook",
      "list_devices",
      "find_file",
      "grep_memory",
    ]);
    expect(names(toolsForPlan(registry, ["check-schedule"]))).toEqual([
      "current_date",
      "queryCalendar",
    ]);
  });

  it("hold texts that could be shared, and that are known by hash", () => {
    for (const builtin of builtinSkills) {
      expect(fieldProblems(builtin)).toEqual([]);
      expect(unknownMentions(builtin.detailedBody, registry)).toEqual([]);
      expect(isBuiltinText(builtin)).toBe(true);
      expect(isBuiltinText({ ...builtin, detailedBody: `${builtin.detailedBody} ` })).toBe(false);
      expect(isBuiltinText({ ...builtin, id: "other" })).toBe(false);
    }
  });
});

describe("the namespace", () => {
  it("resolves a slug to a skill, a tool, or nothing", () => {
    const registry = openRegistry([skill("plan"), skill("constructor")]);
    expect(registry.resolve("plan")?.kind).toBe("skill");
    expect(registry.resolve("calendar")?.kind).toBe("tool");
    expect(registry.resolve("constructor")?.kind).toBe("skill");
    for (const slug of ["nothing", "toString", "__proto__", "hasOwnProperty"]) {
      expect(registry.resolve(slug)).toBeUndefined();
    }
  });

  it("A7: refuses two skills under one id and names both", () => {
    const registry = createRegistry([
      skill("deploy", "x", { name: "Deploy A" }),
      skill("deploy", "y", { name: "Deploy B" }),
    ]);
    const error = {
      type: "duplicate-skill",
      id: "deploy",
      names: ["Deploy A", "Deploy B"],
    } as const;
    expect(registry).toEqual({ ok: false, error });
    expect(namespaceErrorText(error)).toBe(
      "@deploy has two holders, the skills “Deploy A” and “Deploy B”: rename one of them",
    );
  });

  it("refuses a skill under the slug of a tool", () => {
    expect(createRegistry([skill("calendar")])).toMatchObject({
      ok: false,
      error: { type: "slug-of-tool", id: "calendar" },
    });
    expect(() => openRegistry([skill("calendar")])).toThrow("@calendar has two holders");
  });

  it("knows what code holds, reserved and on-demand names included", () => {
    const held = heldByCode(toolSet, ["Get-Weather"]);
    for (const slug of ["calendar", "calltool", "toolsearch", "skill", "get-weather"]) {
      expect(held(slug)).toBe(true);
    }
    expect(held("constructor")).toBe(false);
  });

  it("tells kinds, holes and referrers", () => {
    const registry = openRegistry([skill("a", "@b @calendar @hole"), skill("b", "@b @hole")]);
    expect(annotateMentions("@a @calendar @x", registry).map(({ kind }) => kind)).toEqual([
      "skill",
      "tool",
      "unknown",
    ]);
    expect([...waitingNames(registry)]).toEqual([["hole", ["a", "b"]]]);
    expect(referrersOf(registry.skills, "b")).toEqual(["a"]);
  });
});

describe("the menu", () => {
  const on = { enabled: true, advertised: true };

  it("holds the enabled and advertised skills in stored order, and the advertised tools", () => {
    const menu = menuOf(
      openRegistry([
        skill("z", "x", on),
        skill("off", "x", { ...on, enabled: false }),
        skill("a", "x", on),
      ]),
    );
    expect(menu.skills.map(({ id }) => id)).toEqual(["z", "a"]);
    expect(menu.tools.map((tool) => tool.slug)).toEqual(["current-date"]);
  });

  it("is empty without an enabled and advertised skill, and then nothing is planned", () => {
    const registry = openRegistry([skill("a"), skill("b", "x", { ...on, enabled: false })]);
    expect(menuOf(registry)).toEqual({ skills: [], tools: [] });
    expect(isPlanningOn(registry)).toBe(false);
    expect(isPlanningOn(openRegistry([skill("a", "x", on)]))).toBe(true);
  });

  it("bounds what a model may name", () => {
    const registry = openRegistry([skill("a", "x", on), skill("b")]);
    expect(admitHandles(registry, ["a", "b", "current-date", "calendar", "zzz"])).toEqual({
      admitted: ["a", "current-date"],
      dropped: ["b", "calendar", "zzz"],
    });
  });
});

describe("expansion", () => {
  it("stops at cycles, self-mentions included", () => {
    const registry = openRegistry([skill("a", "@a @b @calendar"), skill("b", "@a @find-file")]);
    expect(names(toolsForPlan(registry, ["a", "b"]))).toEqual(["find_file", "queryCalendar"]);
    expect(expand(registry, ["a"]).skills.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("A21: reports what is missing once and goes on", () => {
    const registry = openRegistry([skill("a", "@gone @b @gone"), skill("b", "@gone @calendar")]);
    const expansion = expand(registry, ["a", "gone"]);
    expect(expansion.unknown).toEqual(["gone"]);
    expect(names(expansion.tools)).toEqual(["queryCalendar"]);
  });

  it("expands a disabled skill to nothing and says so", () => {
    const registry = openRegistry([skill("a", "@b"), skill("b", "@calendar", { enabled: false })]);
    expect(expand(registry, ["a"])).toMatchObject({ tools: [], disabled: ["b"], unknown: [] });
  });

  it("binds a tool that is named directly", () => {
    expect(names(toolsForPlan(openRegistry([]), ["calendar", "calendar"]))).toEqual([
      "queryCalendar",
    ]);
  });

  it("shows the live reach of a body", () => {
    const reach = reachOfBody(openRegistry(builtinSkills), "FIRST @fetch-file, then @nothing");
    expect(names(reach.tools)).toEqual(["list_devices", "find_file"]);
    expect(reach.unknown).toEqual(["nothing"]);
  });

  it("withholds a healed tool from one skill only", () => {
    const registry = openRegistry([skill("a", "@calendar"), skill("b", "@calendar")]);
    const withhold = withholdHealings([{ localId: "a", slug: "calendar" }]);
    expect(expand(registry, ["a"], withhold).tools).toEqual([]);
    expect(names(expand(registry, ["a", "b"], withhold).tools)).toEqual(["queryCalendar"]);
  });

  it("walks a chain of ten thousand skills", () => {
    const chain = Array.from({ length: 10_000 }, (_, index) =>
      skill(`s${index}`, `@s${index + 1}`),
    );
    expect(expand(openRegistry(chain), ["s0"]).skills).toHaveLength(10_000);
  });

  it("equals the plain recursion", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const slugs = [...ids, "calendar", "find-file", "hole"];
    const body = fc
      .array(fc.constantFrom(...slugs), { maxLength: 5 })
      .map((mentions) => `Go. ${mentions.map((slug) => `@${slug}`).join(" ")}`);
    const skills = fc
      .tuple(...ids.map(() => fc.tuple(body, fc.boolean())))
      .map((bodies) =>
        bodies.map(([text, enabled], index) => skill(ids[index] ?? "", text, { enabled })),
      );
    fc.assert(
      fc.property(
        skills,
        fc.array(fc.constantFrom(...slugs), { maxLength: 3 }),
        (list, handles) => {
          const expansion = expand(openRegistry(list), handles);
          const slow = slowExpansion(
            list,
            toolSet.map((tool) => tool.slug),
            handles,
          );
          expect(expansion.tools.map((tool) => tool.slug)).toEqual(slow.tools);
          expect(expansion.skills.map(({ id }) => id)).toEqual(slow.skills);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
