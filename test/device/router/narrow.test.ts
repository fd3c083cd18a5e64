/**
 * What a ranking leaves to a brain's plan, and skills before the tools that come with them.
 */
import { describe, expect, it } from "vitest";

import { type Narrowed, narrowed } from "../../../src/device/router/narrow.ts";
import { preferSkills } from "../../../src/device/router/prefer-skills.ts";
import type { Ranking, Verdict } from "../../../src/device/router/port.ts";

const ranking = (scores: Readonly<Record<string, number>>, verdict: Verdict): Ranking => ({
  type: "ranked",
  scored: Object.entries(scores).map(([handle, score]) => ({ handle, score })),
  verdict,
});

const names = ({ handles }: Narrowed): readonly string[] => handles.map(({ handle }) => handle);

it("leaves the handles that come near the best, and no more than allowed", () => {
  const pick: Verdict = { type: "pick", handle: "a" };
  const scores = { a: 9, b: 8.5, c: 8, d: 7.5, e: 1 };
  const three = narrowed(ranking(scores, pick), { menu: [], count: 3 });
  expect(three).toMatchObject({ type: "narrowed", none: false });
  expect(three.handles).toEqual([
    { handle: "a", score: 9 },
    { handle: "b", score: 8.5 },
    { handle: "c", score: 8 },
  ]);
  expect(names(narrowed(ranking(scores, pick), { menu: [], count: 9 }))).toEqual([
    "a",
    "b",
    "c",
    "d",
  ]);
});

it("leaves one handle where the router is sure, and none where nothing fits", () => {
  const three = { menu: [], count: 3 };
  const sure = ranking({ a: 9, b: 2 }, { type: "pick", handle: "a" });
  expect(names(narrowed(sure, three))).toEqual(["a"]);
  expect(narrowed(ranking({ a: 9, b: 8 }, { type: "none" }), three)).toEqual({
    type: "narrowed",
    handles: [],
    none: true,
  });
});

const thoughtNothing = (none: number): Ranking => ({
  ...ranking({ a: 9, b: 8 }, { type: "none" }),
  none,
});

it("leaves the choice to the brain where the router only thinks that nothing fits", () => {
  const three = { menu: [], count: 3 };
  expect(narrowed(thoughtNothing(0.89), three).none).toBe(true);
  expect(names(narrowed(thoughtNothing(0.89), three))).toEqual(["a", "b"]);
  expect(narrowed(thoughtNothing(0.9), three)).toMatchObject({ handles: [], none: true });
});

describe("a tool beside a skill that mentions it", () => {
  const menu = [
    { handle: "schedule", line: "the calendar", mentions: ["date"] },
    { handle: "search", line: "everything kept", mentions: [] },
    { handle: "date", line: "which day it is" },
  ];
  const date: Verdict = { type: "pick", handle: "date" };

  it("is not meant when the skill fits nearly as well", () => {
    const asked = preferSkills(ranking({ date: 9, schedule: 7, search: 1 }, date), menu);
    expect(asked.scored.map(({ handle }) => handle)).toEqual(["schedule", "search"]);
    expect(asked.verdict).toEqual({ type: "pick", handle: "schedule" });
    const choice = ranking({ date: 9, schedule: 7 }, date);
    expect(names(narrowed(choice, { menu, count: 3 }))).toEqual(["schedule"]);
    // The router has no opinion on the others then: "when is her birthday" looks like a date.
    const birthday = narrowed(ranking({ date: 4.8, schedule: 3.4, search: 1.7 }, date), {
      menu,
      count: 3,
    });
    expect(birthday.handles).toEqual([
      { handle: "schedule", score: 0 },
      { handle: "search", score: 0 },
    ]);
  });

  it("is meant when the skill hardly fits, and where nothing does", () => {
    const clear = ranking({ date: 13, schedule: 7 }, date);
    expect(preferSkills(clear, menu)).toBe(clear);
    const nothing = ranking({ date: 2, schedule: 1 }, { type: "none" });
    expect(preferSkills(nothing, menu).verdict).toEqual({ type: "none" });
  });

  it("is not asked about: what is left is, or is picked", () => {
    const three: Verdict = { type: "unsure", handles: ["date", "schedule", "search"] };
    const scores = { date: 3, schedule: 2.5, search: 2 };
    const two: Verdict = { type: "unsure", handles: ["schedule", "search"] };
    expect(preferSkills(ranking(scores, three), menu).verdict).toEqual(two);
    const pair: Verdict = { type: "unsure", handles: ["date", "schedule"] };
    const picked: Verdict = { type: "pick", handle: "schedule" };
    expect(preferSkills(ranking(scores, pair), menu).verdict).toEqual(picked);
  });
});
