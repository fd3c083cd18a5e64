/**
 * The Alignment document: its form byte for byte, its parts, and its price.
 */
import { describe, expect, it } from "vitest";

import {
  blurbs,
  defaultInstructions,
  estimatedTokens,
  menuText,
  systemPrompt,
} from "../../../src/device/agent/alignment.ts";
import { menuBudget } from "../../../src/device/agent/menu-budget.ts";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import { menuOf, openRegistry } from "../../../src/device/skills/registry.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";

const menu = menuOf(openRegistry(builtinSkills));
const dateLine = toolSet.find(({ slug }) => slug === "current-date")?.description ?? "";

describe("the document", () => {
  it("ends in the menu: skills in stored order, then advertised tools, one line each", () => {
    expect(menuText(menu)).toBe(
      [
        "Your skills:",
        `- @search-info: ${builtinSkills[0]?.shortDescription}`,
        `- @check-schedule: ${builtinSkills[1]?.shortDescription}`,
        "",
        "Your tools:",
        `- @current-date: ${dateLine}`,
      ].join("\n"),
    );
  });

  it("is instructions, the chosen blurbs in their own order, and the menu, a blank line apart", () => {
    const [notebook, , , date] = blurbs;
    expect(systemPrompt({ instructions: "Be kind.", blurbs: ["date", "notebook"] }, menu)).toBe(
      `Be kind.\n\n${notebook?.text}\n\n${date?.text}\n\n${menuText(menu)}`,
    );
    expect(systemPrompt({ instructions: undefined, blurbs: [] }, { skills: [], tools: [] })).toBe(
      defaultInstructions,
    );
  });

  it("has no menu and no tools line without an advertised skill", () => {
    const off = builtinSkills.map((skill) => ({ ...skill, advertised: false }));
    expect(menuText(menuOf(openRegistry(off)))).toBe("");
  });
});

describe("the price", () => {
  it("is a quarter of the code points, rounded up", () => {
    expect(estimatedTokens("")).toBe(0);
    expect(estimatedTokens("abcde")).toBe(2);
    expect(estimatedTokens("😀😀😀😀")).toBe(1);
  });

  it("O30: warns from a quarter of the context, refuses from half, names what is longest, drops nothing", () => {
    const text = menuText(menu);
    const tokens = estimatedTokens(text);
    const state = (context: number): string => menuBudget(menu, text, context).state;
    expect(state(tokens * 4)).toBe("fits");
    expect(state(tokens * 4 - 1)).toBe("warn");
    expect(state(tokens * 2)).toBe("warn");
    expect(menuBudget(menu, text, tokens * 2 - 1)).toEqual({
      state: "refuse",
      text: `the menu takes ~${tokens} of ${tokens * 2 - 1} tokens, more than half: take some off, e.g. @check-schedule, @search-info`,
    });
    expect(menuBudget(menu, text, 100, () => 26).text).toContain("takes 26 of 100 tokens");
  });
});
