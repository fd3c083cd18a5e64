/**
 * What a ranking leaves to a brain's plan.
 */
import { expect, it } from "vitest";

import { narrowed } from "../../../src/device/router/narrow.ts";
import type { Ranking, Verdict } from "../../../src/device/router/port.ts";

const ranking = (scores: Readonly<Record<string, number>>, verdict: Verdict): Ranking => ({
  type: "ranked",
  scored: Object.entries(scores).map(([handle, score]) => ({ handle, score })),
  verdict,
});

it("leaves the handles that come near the best, and no more than allowed", () => {
  const pick: Verdict = { type: "pick", handle: "a" };
  const scores = { a: 9, b: 8.5, c: 8, d: 7.5, e: 1 };
  expect(narrowed(ranking(scores, pick), 3)).toEqual({
    type: "narrowed",
    handles: ["a", "b", "c"],
    none: false,
  });
  expect(narrowed(ranking(scores, pick), 9).handles).toEqual(["a", "b", "c", "d"]);
});

it("leaves one handle where the router is sure, and none where nothing fits", () => {
  expect(narrowed(ranking({ a: 9, b: 2 }, { type: "pick", handle: "a" }), 3).handles).toEqual([
    "a",
  ]);
  expect(narrowed(ranking({ a: 9, b: 8 }, { type: "none" }), 3)).toEqual({
    type: "narrowed",
    handles: [],
    none: true,
  });
});
