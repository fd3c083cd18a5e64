import { describe, expect, it } from "vitest";
import { suggestMentions } from "../../../src/device/skills/picker.ts";
import { openRegistry } from "../../../src/device/skills/registry.ts";
import { skill } from "./sample.ts";

describe("the picker", () => {
  const registry = openRegistry([
    skill("trip-file", "x", { name: "Papers" }),
    skill("fine", "x"),
    skill("fix", "x", { enabled: false }),
  ]);
  const slugs = (typed: string, editedId?: string): readonly string[] =>
    suggestMentions(registry, typed, editedId).map((suggestion) => suggestion.slug);

  it("matches slugs and display names, the beginning first", () => {
    expect(slugs("FI")).toEqual(["fine", "find-file", "trip-file"]);
    expect(slugs("pap")).toEqual(["trip-file"]);
    expect(slugs("current d")).toEqual(["current-date"]);
    expect(slugs("zzz")).toEqual([]);
  });

  it("offers the whole namespace at once, never the skill itself or a disabled one", () => {
    expect(slugs("")).toHaveLength(8);
    expect(slugs("", "fine")).toHaveLength(7);
    expect(slugs("fix")).toEqual([]);
  });
});
