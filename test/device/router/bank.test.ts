/**
 * The training bank is whole, and holds nothing of what the router is measured with: no four words in
 * a row of an evaluation request or of an unseen menu.
 */
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { parseCases } from "../../../scripts/eval/choice.ts";
import { concepts, smallTalk, wordGroups } from "../../../src/device/router/bank/bank.ts";
import { slots } from "../../../src/device/router/bank/slots.ts";

const { menus, cases } = parseCases(
  readFileSync(new URL("../../eval/choice-cases.json", import.meta.url), "utf8"),
);

function fours(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z0-9']+/g) ?? [];
  return words.slice(3).map((_, at) => words.slice(at, at + 4).join(" "));
}

/** Frames as they are, and filled with every value of their slots, so that no joint is missed. */
function filled(frame: string): readonly string[] {
  const frames = [frame];
  for (const [slot, values] of Object.entries(slots)) {
    if (!frame.includes(`{${slot}}`)) continue;
    for (const value of values.split("|")) frames.push(frame.replaceAll(`{${slot}}`, value));
  }
  return frames;
}

const trained = new Set(
  [
    ...concepts.flatMap(({ lines, requests }) => [...lines, ...requests.flatMap(filled)]),
    ...smallTalk,
    ...wordGroups.map((words) => words.join(" ")),
  ].flatMap(fours),
);

describe("the bank", () => {
  it("has lines, requests and known slots for every concept", () => {
    expect(concepts.length).toBeGreaterThan(100);
    for (const { requests } of concepts) {
      for (const request of requests) {
        for (const [, slot = ""] of request.matchAll(/\{(\w+)\}/g)) {
          expect(slots).toHaveProperty(slot);
        }
      }
    }
  });

  it("begins with the built-in menu, which training draws more often", () => {
    expect(concepts.slice(0, 3).map(({ handles }) => handles[0])).toEqual([
      "search-info",
      "check-schedule",
      "current-date",
    ]);
  });
});

describe("the evaluation", () => {
  it("shares no four words in a row with the bank", () => {
    const shared = cases.flatMap(([, request]) =>
      fours(request).filter((four) => trained.has(four)),
    );
    expect(shared).toEqual([]);
  });

  it("has unseen menus whose lines are not in the bank either", () => {
    const lines = Object.entries(menus)
      .filter(([name]) => name.startsWith("unseen-"))
      .flatMap(([, entries]) => entries.map(([, line]) => line));
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.flatMap(fours).filter((four) => trained.has(four))).toEqual([]);
  });

  it("is large enough: 150 requests, 10 unseen menus, 25 that nothing fits", () => {
    expect(cases.length).toBeGreaterThanOrEqual(150);
    expect(
      Object.keys(menus).filter((name) => name.startsWith("unseen-")).length,
    ).toBeGreaterThanOrEqual(10);
    expect(cases.filter(([, , handle]) => handle === null).length).toBeGreaterThanOrEqual(25);
    expect(new Set(cases.map(([menu, request]) => `${menu} ${request}`)).size).toBe(cases.length);
  });
});
