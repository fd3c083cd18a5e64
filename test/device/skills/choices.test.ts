import { describe, expect, it } from "vitest";
import { deleteSkill } from "../../../src/device/skills/commit.ts";
import { noChoices } from "../../../src/device/skills/landing.ts";
import { acceptMerge, type Merged } from "../../../src/device/skills/merge.ts";
import { acceptHealing, pendingHealings } from "../../../src/device/skills/origins.ts";
import { again, bodyOf, bundle, ids, into, item, lines, mergeInput, skill } from "./sample.ts";

const isTool = (slug: string): boolean => slug === "later";

describe("captures", () => {
  it("fills no hole of a local text, and does so when the reader accepts just that", () => {
    const local = [skill("r", "then @x"), skill("s", "or @x")];
    const incoming = bundle(item("root", "@x"), item("x"));
    const merged = into(local, incoming);
    expect(ids(merged).slice(2)).toEqual(["root", "x-2"]);
    const filled = into(local, incoming, { choices: { ...noChoices, fill: ["x"] } });
    expect(ids(filled).slice(2)).toEqual(["root", "x"]);
    expect(filled.outcome.filled).toEqual([{ slug: "x", changes: ["r", "s"] }]);
    expect(lines(filled)).toEqual(["Imported @root, @x.", "@x now also changes @r, @s."]);
  });

  it("never duplicates a parent whose deleted child comes back to its own name", () => {
    const incoming = bundle(item("p", "@c"), item("c"));
    const first = into([], incoming);
    const deleted = deleteSkill({ ...first, baseInstructions: "" }, "c", true);
    if (!deleted.ok) throw new Error(deleted.error.type);
    const { skills, origins } = deleted.value.catalogue;
    expect(into(skills, incoming, { origins }).outcome.imported).toEqual(["p-2", "c-2"]);
    const filled = into(skills, incoming, { origins, choices: { ...noChoices, fill: ["c"] } });
    expect(lines(filled)).toEqual([
      "Imported @c.",
      "You already had @p.",
      "@c now also changes @p.",
    ]);
  });

  it("lets no filling reach a tool, a reserved name or a name that is held", () => {
    const local = [skill("r", "@calltool @x"), skill("c", "mine")];
    const incoming = bundle(item("calltool", "@c @calendar"), item("c"), item("calendar"));
    const choices = { ...noChoices, fill: ["calltool", "c", "calendar", "nothing"] };
    const merged = into(local, incoming, { choices });
    expect(merged.outcome.filled).toEqual([]);
    expect(merged.landings.ignoredChoices).toEqual(["calltool", "c", "calendar", "nothing"]);
    expect(merged.outcome.renamed).toHaveLength(3);
  });

  it("asks once before a mention that was unresolved at import reaches a new tool", () => {
    const merged = into([skill("mine", "@later")], bundle(item("a", "@later @never")));
    const pending = pendingHealings(merged.skills, merged.origins, isTool);
    expect(pending).toEqual([{ localId: "a", slug: "later" }]);
    const accepted = acceptHealing(merged.origins, pending[0]!);
    expect(pendingHealings(merged.skills, accepted, isTool)).toEqual([]);
  });
});

describe("keep mine", () => {
  const local = [skill("x", "my way")];
  const incoming = bundle(item("p", "use @x"), item("x", "their way"));
  const choices = { ...noChoices, keep: [{ wireId: "x", localId: "x" }] };

  it("imports nothing for the item and sends references to the kept skill", () => {
    const merged = into(local, incoming, { choices });
    expect(ids(merged)).toEqual(["x", "p"]);
    expect(bodyOf(merged, "p")).toBe("use @x");
    expect(lines(merged)).toEqual(["Imported @p.", "Kept your @x."]);
  });

  it("is remembered with the wire hash, until the reader decides otherwise or the item changes", () => {
    const merged = into(local, incoming, { choices });
    const second = again(merged, incoming);
    expect(second.skills).toEqual(merged.skills);
    expect(second.origins).toEqual(merged.origins);
    expect(lines(second)).toEqual(["You already had @p.", "Kept your @x."]);
    const beside = again(merged, incoming, { choices: { ...noChoices, beside: ["x"] } });
    expect(ids(beside).slice(2)).toEqual(["p-2", "x-2"]);
    expect(beside.origins.kept).toEqual([]);
    const changed = again(merged, bundle(incoming.skill, item("x", "newer")));
    expect(ids(changed).slice(2)).toEqual(["p-2", "x-2"]);
  });

  it("applies to copies that the owner has edited, and to nothing else", () => {
    const first = into([skill("x", "my way"), skill("z")], incoming);
    const edited = first.skills.map((row) =>
      row.id === "x-2" ? { ...row, detailedBody: "edited" } : row,
    );
    const keep = (localId: string): Merged =>
      into(edited, incoming, {
        origins: first.origins,
        choices: { ...noChoices, keep: [{ wireId: "x", localId }] },
      });
    expect(lines(keep("x-2"))).toEqual(["You already had @p.", "Kept your @x-2."]);
    expect(keep("z").landings.ignoredChoices).toEqual(["x"]);
    expect(ids(keep("z")).slice(4)).toEqual(["p-2", "x-3"]);
  });
});

describe("accepting", () => {
  const local = [skill("mine", "@deep"), skill("deep", "bottom"), skill("other", "x")];
  const incoming = bundle(item("p", "use @mine and @c"), item("c"));
  const reviewed = into(local, incoming);

  it("carries out what was reviewed", () => {
    expect(acceptMerge(mergeInput(local, incoming), reviewed.acceptHash)).toEqual({
      ok: true,
      value: reviewed,
    });
  });

  it.each([
    ["the outcome", [...local, skill("c", "taken")]],
    [
      "a local body that the bundle calls",
      local.map((row) => (row.id === "mine" ? { ...row, detailedBody: "@deep!" } : row)),
    ],
    [
      "a local body further down",
      local.map((row) => (row.id === "deep" ? { ...row, detailedBody: "changed" } : row)),
    ],
  ])("needs another review when %s has changed", (_, changed) => {
    expect(acceptMerge(mergeInput(changed, incoming), reviewed.acceptHash)).toEqual({
      ok: false,
      error: { type: "review-outdated" },
    });
  });

  it("needs another review when the bundle has changed, and none for what it does not reach", () => {
    const edited = bundle(incoming.skill, item("c", "Do c. Or not."));
    const summary = bundle(incoming.skill, item("c", "Do c.", { shortDescription: "another" }));
    expect(acceptMerge(mergeInput(local, edited), reviewed.acceptHash).ok).toBe(false);
    expect(acceptMerge(mergeInput(local, summary), reviewed.acceptHash).ok).toBe(false);
    const elsewhere = local.map((row) =>
      row.id === "other" ? { ...row, detailedBody: "y" } : row,
    );
    expect(acceptMerge(mergeInput(elsewhere, incoming), reviewed.acceptHash).ok).toBe(true);
  });
});
