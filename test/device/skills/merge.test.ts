import { describe, expect, it } from "vitest";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import { deleteSkill, renameSkill } from "../../../src/device/skills/commit.ts";
import { openRegistry } from "../../../src/device/skills/registry.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { again, bodyOf, bundle, ids, into, item, lines, skill } from "./sample.ts";

const fixed = { tools: toolSet, onDemandNames: [] };

describe("landing", () => {
  const incoming = bundle(item("trip", "use @meeting-prep"), item("meeting-prep", "their steps"));

  it("appends what collides with nothing, enabled and unadvertised", () => {
    const merged = into([skill("mine")], incoming);
    expect(merged.skills[1]).toEqual({
      ...incoming.skill,
      enabled: true,
      advertised: false,
      nameIsSet: true,
    });
    expect(lines(merged)).toEqual(["Imported @trip, @meeting-prep."]);
  });

  it("moves what differs aside, with the cascade confined to the bundle", () => {
    const mine = skill("meeting-prep", "my steps");
    const caller = skill("caller", "use @meeting-prep");
    const merged = into([mine, caller], incoming);
    expect(merged.skills.slice(0, 2)).toEqual([mine, caller]);
    expect(ids(merged)).toEqual(["meeting-prep", "caller", "trip", "meeting-prep-2"]);
    expect(bodyOf(merged, "trip")).toBe("use @meeting-prep-2");
    expect(lines(merged)).toEqual([
      "Imported @trip.",
      "@meeting-prep was taken — imported as @meeting-prep-2.",
    ]);
  });

  it("skips what is identical, and says so when all of it is", () => {
    const merged = into([skill("meeting-prep", "their steps")], incoming);
    expect(lines(merged)).toEqual(["Imported @trip.", "You already had @meeting-prep."]);
    expect(lines(again(merged, incoming))).toEqual(["Nothing new — you already had all of this."]);
  });

  it("compares name and body; a differing summary is only reported", () => {
    const named = skill("meeting-prep", "their steps", { name: "Other" });
    expect(ids(into([named], incoming))).toContain("meeting-prep-2");
    const summary = skill("meeting-prep", "their steps", { shortDescription: "mine" });
    expect(lines(into([summary], incoming))).toEqual([
      "Imported @trip.",
      "You already had @meeting-prep.",
      "The summary of @meeting-prep differs; yours was kept.",
    ]);
  });

  it("A6: letter case of a mention is no difference", () => {
    const merged = into([skill("a", "use @Calendar")], bundle(item("a", "use @calendar")));
    expect(merged.outcome.skippedIdentical).toEqual(["a"]);
  });

  it("collapses the built-ins on a device that ships them", () => {
    const [search, , fetch] = builtinSkills;
    const merged = into(builtinSkills, bundle(item("x", "@search-info"), search!, fetch!));
    expect(lines(merged)).toEqual([
      "Imported @x.",
      "You already had @search-info.",
      "You already had @fetch-file.",
    ]);
  });

  it("treats an edited built-in as the owner's own", () => {
    const [search, schedule, fetch] = builtinSkills;
    const edited = { ...fetch!, detailedBody: "mine: @find-file" };
    const merged = into([search!, schedule!, edited], bundle(search!, fetch!));
    expect(ids(merged).slice(3)).toEqual(["search-info-2", "fetch-file-2"]);
    expect(bodyOf(merged, "search-info-2")).toContain("@fetch-file-2");
  });

  it("never takes the slug of a tool or a reserved name", () => {
    const hostile = bundle(
      item("root", "@calendar @skill @calltool @weather"),
      item("calendar"),
      item("skill"),
      item("calltool"),
      item("weather"),
    );
    const merged = into([], hostile, { onDemandNames: ["Weather"] });
    expect(ids(merged)).toEqual(["root", "calendar-2", "skill-2", "calltool-2", "weather-2"]);
    expect(bodyOf(merged, "root")).toBe("@calendar-2 @skill-2 @calltool-2 @weather-2");
    expect(() => openRegistry(merged.skills)).not.toThrow();
  });

  it("mints from the name, past every name that is taken or waited for", () => {
    const hostile = bundle(
      item("b", "@c @plan-3", { name: "Plan" }),
      item("c", "x", { name: "Plan" }),
    );
    const merged = into(
      [skill("b"), skill("c"), skill("plan"), skill("holed", "@plan-2")],
      hostile,
    );
    // plan: local; plan-2: a local text waits for it; plan-3: the bundle itself waits for it.
    expect(merged.outcome.renamed.map(({ to }) => to)).toEqual(["plan-4", "plan-5"]);
  });

  it("mints past the names of code", () => {
    const named = bundle(item("b", "@c", { name: "Calendar" }), item("c", "x", { name: "Skill" }));
    const merged = into([skill("b"), skill("c")], named);
    expect(merged.outcome.imported).toEqual(["calendar-2", "skill-2"]);
  });

  it("re-slugs a root that no mention can name", () => {
    const merged = into([], bundle(item("a-", "x", { name: "A" })));
    expect(lines(merged)).toEqual(["@a- is not a usable name — imported as @a."]);
  });

  it("rewrites summaries with the bodies", () => {
    const merged = into(
      [skill("b", "mine")],
      bundle(item("a", "@b", { shortDescription: "like @b" }), item("b")),
    );
    expect(merged.skills[1]).toMatchObject({ shortDescription: "like @b-2", detailedBody: "@b-2" });
    expect(
      again(merged, bundle(item("a", "@b", { shortDescription: "like @b" }), item("b"))).outcome
        .summaryDiffers,
    ).toEqual([]);
  });

  it("imports what a new name takes over the cap", () => {
    const long = bundle(item("a", `@b ${"x".repeat(8_189)}`), item("b"));
    const merged = into([skill("b", "mine")], long);
    expect(bodyOf(merged, "a")).toHaveLength(8_194);
  });
});

describe("identity", () => {
  const incoming = bundle(item("parent", "first @child"), item("child", "their child"));

  it("does not skip a parent that would keep calling the owner's own child", () => {
    const merged = into([skill("parent", "first @child"), skill("child", "my child")], incoming);
    expect(ids(merged)).toEqual(["parent", "child", "parent-2", "child-2"]);
    expect(bodyOf(merged, "parent-2")).toBe("first @child-2");
    expect(lines(again(merged, incoming))).toEqual(["Nothing new — you already had all of this."]);
    expect(again(merged, incoming).skills).toEqual(merged.skills);
  });

  it("finds a copy again after the owner has renamed it, and everything around it", () => {
    const first = into([skill("child", "my child")], incoming);
    let state = { skills: first.skills, origins: first.origins, baseInstructions: "" };
    for (const [from, to] of [
      ["child-2", "kid"],
      ["parent", "elder"],
      ["child", "parent"],
    ] as const) {
      const renamed = renameSkill(state, fixed, from, to);
      if (!renamed.ok) throw new Error(renamed.error.type);
      state = renamed.value.catalogue;
    }
    const second = into(state.skills, incoming, { origins: state.origins });
    expect(lines(second)).toEqual(["Nothing new — you already had all of this."]);
    expect(second.skills).toEqual(state.skills);
    expect(second.outcome.landed).toEqual([
      { wireId: "parent", slug: "elder" },
      { wireId: "child", slug: "kid" },
    ]);
    expect(
      lines(
        into(state.skills, bundle(item("x", "@child"), incoming.closure[0]!), {
          origins: state.origins,
        }),
      ),
    ).toEqual(["Imported @x.", "You already had @child as @kid."]);
  });

  it("keeps the meaning of a mention outside the bundle through a rename", () => {
    const outside = bundle(item("a", "ask @mine"));
    const first = into([skill("mine")], outside);
    const renamed = renameSkill({ ...first, baseInstructions: "" }, fixed, "mine", "yours");
    if (!renamed.ok) throw new Error(renamed.error.type);
    const { skills, origins } = renamed.value.catalogue;
    expect(into(skills, outside, { origins }).outcome.skippedIdentical).toEqual(["a"]);
  });

  it("supports cycles: two skills that mention each other are found together or not at all", () => {
    const cycle = bundle(item("a", "@b"), item("b", "@a"));
    const merged = into([skill("a", "@b"), skill("b", "@a")], cycle);
    expect(merged.outcome.skippedIdentical).toEqual(["a", "b"]);
    const broken = into([skill("a", "@b"), skill("b", "@a!")], cycle);
    expect(ids(broken).slice(2)).toEqual(["a-2", "b-2"]);
    expect(bodyOf(broken, "b-2")).toBe("@a-2");
  });

  it("takes one copy of an item for all that mention it", () => {
    const shared = bundle(item("p", "@c @d"), item("c", "x"), item("d", "@c"));
    const first = into([skill("c", "mine")], shared);
    expect(bodyOf(first, "d")).toBe("@c-2");
    const bodies = new Map([
      ["c", "x"],
      ["d", "@c"],
    ]);
    const edited = first.skills.map((row) => ({
      ...row,
      detailedBody: bodies.get(row.id) ?? row.detailedBody,
    }));
    // p calls the copy and d the owner's own: both fit by themselves, together they do not, and
    // then the unedited copy wins.
    const second = into(edited, shared, { origins: first.origins });
    expect(second.outcome.imported).toEqual(["p-2", "d-2"]);
    expect(bodyOf(second, "p-2")).toBe("@c-2 @d-2");
  });

  it("takes one copy of an item for all mentions in one body", () => {
    const shared = bundle(item("a", "@b then @b"), item("b", "x"));
    const first = into([skill("b", "mine")], shared);
    const edited = first.skills.map((row) => {
      if (row.id === "b") return { ...row, detailedBody: "x" };
      return row.id === "a" ? { ...row, detailedBody: "@b-2 then @b" } : row;
    });
    const second = into(edited, shared, { origins: first.origins });
    expect(second.outcome.imported).toEqual(["a-2"]);
    expect(second.outcome.skippedIdentical).toEqual(["b"]);
  });

  it("counts a deleted copy as new, and forgets it", () => {
    const first = into([], incoming);
    const deleted = deleteSkill({ ...first, baseInstructions: "" }, "parent", true);
    if (!deleted.ok) throw new Error(deleted.error.type);
    const { skills, origins } = deleted.value.catalogue;
    expect(origins.copies.map((origin) => origin.localId)).toEqual(["child"]);
    const second = into(skills, incoming, { origins });
    expect(lines(second)).toEqual(["Imported @parent.", "You already had @child."]);
  });

  it("forgets what it knew about a slug when another skill lands there", () => {
    const first = into([], incoming);
    const without = first.skills.filter((row) => row.id !== "parent");
    const other = bundle(item("parent", "another"));
    const second = into(without, other, { origins: first.origins });
    expect(second.origins.copies.map(({ localId, wire }) => [localId, wire.detailedBody])).toEqual([
      ["child", "their child"],
      ["parent", "another"],
    ]);
  });

  it("brings an unchanged parent along when its leaf has changed", () => {
    const first = into([], incoming);
    const changed = bundle(incoming.skill, item("child", "a better child"));
    const second = again(first, changed);
    expect(ids(second).slice(2)).toEqual(["parent-2", "child-2"]);
    expect(lines(again(second, changed))).toEqual(["Nothing new — you already had all of this."]);
    expect(lines(again(second, incoming))).toEqual(["Nothing new — you already had all of this."]);
  });

  it("ignores the sender and adds a second one", () => {
    const first = into([], incoming);
    const second = again(first, incoming, { sender: "bob", nowMs: 2_000 });
    expect(second.outcome.imported).toEqual([]);
    expect(second.origins.copies[0]?.senders.map(({ aik, atMs }) => [aik, atMs])).toEqual([
      ["alice", 1_000],
      ["bob", 2_000],
    ]);
    expect(again(second, incoming, { nowMs: 3_000 }).origins).toEqual(second.origins);
  });
});
