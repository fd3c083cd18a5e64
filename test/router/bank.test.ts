/**
 * The training bank is whole, and holds nothing of what the router is measured with: no four words in
 * a row of an evaluation request or of an unseen menu.
 */
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { type ChoiceCases, parseCases } from "../../scripts/eval/choice.ts";
import {
  bankConcepts,
  nearMisses,
  slots,
  smallTalk,
  wordGroups,
} from "../../scripts/router/bank.ts";
import { builtinHandles } from "../../scripts/router/corpus.ts";
import { bankHash } from "../../scripts/router/bank-hash.ts";

const read = (name: string): ChoiceCases =>
  parseCases(readFileSync(new URL(`../eval/${name}`, import.meta.url), "utf8"));
const { menus, cases } = read("choice-cases.json");
const dev = read("dev-cases.json");

function runs(text: string, length: number): readonly string[] {
  const words = text.toLowerCase().match(/[a-z0-9']+/g) ?? [];
  return words.slice(length - 1).map((_, at) => words.slice(at, at + length).join(" "));
}

const fours = (text: string): readonly string[] => runs(text, 4);
const fives = (text: string): readonly string[] => runs(text, 5);

/** Frames as they are, and filled with every value of their slots, so that no joint is missed. */
function filled(frame: string): readonly string[] {
  const frames = [frame];
  for (const [slot, values] of Object.entries(slots)) {
    if (!frame.includes(`{${slot}}`)) continue;
    for (const value of values) frames.push(frame.replaceAll(`{${slot}}`, value));
  }
  return frames;
}

const trainedTexts = [
  ...bankConcepts.flatMap(({ lines, requests }) => [...lines, ...requests.flatMap(filled)]),
  ...nearMisses.map(({ request }) => request),
  ...smallTalk,
  ...wordGroups.map((words) => words.join(" ")),
];
const trained = new Set(trainedTexts.flatMap(fours));

describe("the bank", () => {
  it("has lines, requests and known slots for every concept", () => {
    expect(bankConcepts.length).toBeGreaterThan(400);
    for (const { lines, requests, family } of bankConcepts) {
      expect([family, lines.length > 0, requests.length > 0]).toEqual([family, true, true]);
      for (const request of requests) {
        for (const [, slot = ""] of request.matchAll(/\{(\w+)\}/g)) {
          expect(slots).toHaveProperty(slot);
        }
      }
    }
  });

  it("has the built-in menu, which training draws more often", () => {
    const handles = new Set(bankConcepts.flatMap((concept) => concept.handles));
    expect(builtinHandles.filter((handle) => !handles.has(handle))).toEqual([]);
  });

  it("is what the weights that ship were made from", () => {
    const router = new URL("../../src/device/router/", import.meta.url);
    for (const file of ["static-weights.ts", "embedding-weights.ts"]) {
      expect(readFileSync(new URL(file, router), "utf8").slice(0, 400)).toContain(bankHash());
    }
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

  it("is told apart from the requests that thresholds were chosen on: no menu, no request in both", () => {
    const reported = new Set(cases.map(([, request]) => request));
    expect(dev.cases.filter(([, request]) => reported.has(request))).toEqual([]);
    const fields = Object.keys(dev.menus).filter((name) => name.startsWith("unseen-"));
    expect(fields.filter((name) => name in menus)).toEqual([]);
    const known = new Set(trainedTexts.flatMap(fives));
    const shared = dev.cases.flatMap(([, request]) =>
      fives(request).filter((five) => known.has(five)),
    );
    expect(shared).toEqual([]);
    expect(dev.cases.length).toBeGreaterThanOrEqual(120);
    expect(dev.cases.filter(([, , handle]) => handle === null).length).toBeGreaterThanOrEqual(40);
  });
});
