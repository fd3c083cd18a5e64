/**
 * CallTool's judge: only bound tools, only declared arguments, only real days. It is fed anything.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { callKey, checkCall } from "../../../src/device/agent/call-tool.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";

const bound = toolSet
  .filter(({ toolName }) => ["queryCalendar", "check_notebook"].includes(toolName))
  .map((declaration) => ({ declaration }));
const isSkill = (slug: string): boolean => slug === "check-schedule";
const refusal = (tool: string, args: unknown): string | undefined => {
  const checked = checkCall({ tool, args }, bound, isSkill);
  return checked.ok ? undefined : checked.error;
};

describe("arguments", () => {
  it("admits exactly what is declared", () => {
    expect(refusal("queryCalendar", { from: "2026-12-05", to: "2026-12-06" })).toBeUndefined();
    expect(refusal("check_notebook", { query: "gate code" })).toBeUndefined();
  });

  it("A32: refuses missing, further, nested and empty ones, and says which", () => {
    const signature = "queryCalendar(from: string, to: string): ";
    const from = "2026-12-05";
    expect(refusal("queryCalendar", { from })).toBe(`${signature}missing argument to`);
    expect(refusal("queryCalendar", { from, to: from, zone: "x" })).toBe(
      `${signature}there is no argument zone`,
    );
    expect(refusal("queryCalendar", { from, to: { day: 6 } })).toBe(
      `${signature}to: expected text, got object`,
    );
    expect(refusal("queryCalendar", { from, to: null })).toBe(
      `${signature}to: expected text, got null`,
    );
    expect(refusal("check_notebook", { query: "  " })).toContain("got nothing");
    for (const args of [null, [], "text", 7, undefined]) {
      expect(refusal("queryCalendar", args)).toBe(`${signature}expected args to be an object`);
    }
  });

  it("refuses what a grammar lets through: patterns, lengths and days that do not exist", () => {
    const to = "2026-12-06";
    expect(refusal("queryCalendar", { from: "tomorrow", to })).toContain(
      "as YYYY-MM-DD, got tomorrow",
    );
    expect(refusal("queryCalendar", { from: "2026-02-31", to })).toContain(
      "there is no day 2026-02-31",
    );
    expect(refusal("queryCalendar", { from: "2026-13-01", to })).toContain(
      "there is no day 2026-13-01",
    );
    expect(refusal("queryCalendar", { from: "2028-02-29", to })).toBeUndefined();
    expect(refusal("check_notebook", { query: "x".repeat(401) })).toContain(
      "expected at most 400 characters, got 401",
    );
    expect(refusal("check_notebook", { query: "😀".repeat(400) })).toBeUndefined();
  });

  it("names of Object.prototype are ordinary unknown names", () => {
    expect(refusal("constructor", {})).toContain("there is no tool constructor");
    expect(refusal("check_notebook", { constructor: "x" })).toContain("missing argument query");
    expect(refusal("check_notebook", { query: "x", toString: "y" })).toContain(
      "there is no argument toString",
    );
  });

  it("never throws, and admits nothing that is not bound", () => {
    fc.assert(
      fc.property(fc.string(), fc.anything(), (tool, args) => {
        const checked = checkCall({ tool, args }, bound, isSkill);
        return !checked.ok || bound.includes(checked.value.target);
      }),
    );
  });
});

describe("keys of calls", () => {
  it("do not depend on the order of arguments, and differ where calls do", () => {
    expect(callKey("t", { a: "1", b: { c: 1, d: 2 } })).toBe(
      callKey("t", { b: { d: 2, c: 1 }, a: "1" }),
    );
    const keys = [
      callKey("t", { a: "1" }),
      callKey("t", { a: "2" }),
      callKey("u", { a: "1" }),
      callKey("t", {}),
      callKey("t", ["a", "1"]),
      callKey("t", null),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
