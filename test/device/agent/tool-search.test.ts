/**
 * Searching on-demand tools: the ranks, the bounds, and what a miss says. The section that lists them is
 * bounded as well.
 */
import { describe, expect, it } from "vitest";

import { residentPrompt } from "../../../src/device/agent/resident-prompt.ts";
import { missText, searchTools } from "../../../src/device/agent/tool-search.ts";
import { onDemandTool } from "../../support/on-demand.ts";

const tools = [
  { toolName: "wiki-read", description: "Reads a page; a calendar of pages, too." },
  { toolName: "calendar-sync", description: "Copies events." },
  { toolName: "calendar", description: "Shows events." },
  { toolName: "mail-list", description: "Lists letters, newest first." },
];
const found = (query: string): readonly string[] =>
  searchTools(query, tools).map(({ toolName }) => toolName);

describe("a search", () => {
  it("an exact name beats a part of a name, which beats words of a description", () => {
    expect(found("calendar")).toEqual(["calendar"]);
    expect(found("calendars")).toEqual([]);
    expect(found("the calendar please")).toEqual(["calendar-sync", "calendar", "wiki-read"]);
    expect(found("newest events")).toEqual(["calendar-sync", "calendar", "mail-list"]);
    expect(found("Mail_List")).toEqual(["mail-list"]);
  });

  it("finds four at most, and nothing for nothing", () => {
    const many = Array.from({ length: 9 }, (_, at) => ({
      toolName: `mail-${at}`,
      description: "",
    }));
    expect(searchTools("mail", many).map(({ toolName }) => toolName)).toEqual([
      "mail-0",
      "mail-1",
      "mail-2",
      "mail-3",
    ]);
    expect(found("")).toEqual([]);
    expect(found("  !? ")).toEqual([]);
  });

  it("a miss lists 24 names at most, and says of how many", () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ toolName: `t${at}`, description: "" }));
    const text = missText("x", many);
    expect(text).toContain("t23 [24 of 30]");
    expect(text).not.toContain("t24");
    expect(missText("x", tools).endsWith("mail-list")).toBe(true);
  });
});

describe("the section of on-demand tools", () => {
  const alignment = { instructions: "Be kind.", blurbs: [] };
  const section = (count: number): readonly string[] => {
    const declared = Array.from(
      { length: count },
      (_, at) => onDemandTool(`tool-${at}`, `Does\nthing ${"x".repeat(200)}`).declaration,
    );
    const document = residentPrompt(alignment, { skills: [], tools: [] }, declared);
    return document.split("# On-demand tools\n")[1]?.split("\n").slice(1) ?? [];
  };

  it("has 64 lines of 120 characters at most, and counts the rest", () => {
    expect(section(64)).toHaveLength(64);
    expect(section(100)).toHaveLength(64);
    expect(section(100).at(-1)).toBe("… 37 more");
    expect(section(1)[0]).toMatch(/^- tool-0: Does thing x+…$/);
    expect(section(100).every((line) => Array.from(line).length <= 120)).toBe(true);
  });

  it("does not exist without one", () => {
    expect(residentPrompt(alignment, { skills: [], tools: [] }, [])).not.toContain("On-demand");
  });
});
