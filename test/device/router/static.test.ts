/**
 * The routers that ship: what plain word matching says, and what the static router does with the
 * weights of this release. How good it is, is measured by `npm run eval`; here is a floor.
 */
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { type Contender, parseCases, runChoice, wilson } from "../../../scripts/eval/choice.ts";
import { bm25Router } from "../../../src/device/router/bm25.ts";
import type { MenuLine, Router } from "../../../src/device/router/port.ts";
import { loadStaticRouter } from "../../../src/device/router/static.ts";
import { decodeTable, encodeTable } from "../../../src/device/router/table.ts";
import { featureRows, wordsOf } from "../../../src/device/router/text.ts";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";

const builtinMenu: readonly MenuLine[] = [
  ...builtinSkills
    .filter(({ advertised }) => advertised)
    .map(({ id, shortDescription }) => ({ handle: id, line: shortDescription })),
  ...toolSet
    .filter(({ advertiseInMenu }) => advertiseInMenu)
    .map(({ slug, description }) => ({ handle: slug, line: description })),
];

let router: Router;
const { signal } = new AbortController();
const entered = (one: Router): Contender => ({
  brain: "basic",
  router: one,
  model: null,
  ranks: true,
});
const verdictOf = async (
  asked: Router,
  question: string,
  menu: readonly MenuLine[],
): Promise<unknown> => {
  const ranking = await asked.rank(question, menu, signal);
  return ranking.type === "ranked" ? ranking.verdict : ranking;
};
const picked = (question: string): Promise<unknown> => verdictOf(router, question, builtinMenu);
beforeAll(async () => {
  router = await loadStaticRouter();
});

describe("the static router", () => {
  it("knows the built-in menu", async () => {
    expect(await picked("what is on this weekend?")).toEqual({
      type: "pick",
      handle: "check-schedule",
    });
    expect(await picked("what day is it today")).toEqual({ type: "pick", handle: "current-date" });
    expect(await picked("I need my passport number")).toEqual({
      type: "pick",
      handle: "search-info",
    });
    expect(await picked("tell me a joke")).toEqual({ type: "none" });
  });

  it("holds the floor on the committed requests", async () => {
    const cases = parseCases(
      readFileSync(new URL("../../eval/choice-cases.json", import.meta.url), "utf8"),
    );
    const rows = await runChoice(entered(router), cases);
    const whole = rows.find(({ menus }) => menus === "all");
    const yardstick = (await runChoice(entered(bm25Router), cases)).find(
      ({ menus }) => menus === "all",
    );
    expect(whole?.top1).toBeGreaterThan((yardstick?.top1 ?? 1) + 0.1);
    expect(whole?.wronglyClaimed).toBeLessThan(0.05);
    expect(whole?.none).toBeGreaterThan(0.4);
  });

  it("ranks every line of any menu exactly once, and ranks alike each time", async () => {
    const menus = fc.uniqueArray(
      fc.record({ handle: fc.stringMatching(/^[a-z]{1,8}$/), line: fc.string() }),
      { selector: ({ handle }) => handle, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), menus, async (question, menu) => {
        const ranking = await router.rank(question, menu, signal);
        if (ranking.type === "failed") throw new Error(ranking.reason);
        expect(ranking.scored.map(({ handle }) => handle).toSorted()).toEqual(
          menu.map(({ handle }) => handle).toSorted(),
        );
        expect(ranking.scored.every(({ score }) => Number.isFinite(score))).toBe(true);
        expect(await router.rank(question, menu, signal)).toEqual(ranking);
      }),
    );
  });

  it("says that nothing fits an empty menu", async () => {
    expect(await verdictOf(router, "anything", [])).toEqual({ type: "none" });
  });
});

describe("BM25", () => {
  const menu = [
    { handle: "hives", line: "Inspects a hive" },
    { handle: "jars", line: "Counts jars of honey" },
  ];
  it("picks the line that shares a word, in any form", async () => {
    expect(await verdictOf(bm25Router, "how many jar do I have", menu)).toEqual({
      type: "pick",
      handle: "jars",
    });
  });
  it("knows nothing of other words", async () => {
    expect(await verdictOf(bm25Router, "bees", menu)).toEqual({ type: "none" });
  });
});

describe("words and features", () => {
  it("are lower-case, without accents, and bounded", () => {
    expect(wordsOf("Café—NAÏVE, don't!")).toEqual(["cafe", "naive", "dont"]);
    expect(wordsOf("word ".repeat(1_000))).toHaveLength(64);
    expect(featureRows("", 8)).toEqual([]);
  });
});

describe("the table", () => {
  it("survives writing and reading within a step of its row's scale", () => {
    const values = Float32Array.from([0.5, -0.25, 0, 0, 3, -2.9]);
    const table = encodeTable({ rows: 3, dims: 2, values });
    expect(table.text).toHaveLength(9);
    const read = decodeTable(table).values;
    for (const [at, value] of values.entries()) {
      expect(Math.abs((read[at] ?? 9) - value)).toBeLessThanOrEqual(0.06);
    }
  });
  it("of another size is refused", () => {
    expect(() => decodeTable({ rows: 3, dims: 2, text: "AAAA" })).toThrow("expected 9 characters");
  });
});

it("Wilson's interval holds the share, and is never empty", () => {
  expect(wilson(0, 0)).toEqual([0, 1]);
  expect(wilson(8, 10)).toEqual([0.49, 0.943]);
});
