/**
 * The judge decides from numbers: the best line, a question to the owner when two are alike, and that
 * nothing fits when the background explains a request better than the menu does.
 */
import { describe, expect, it } from "vitest";

import {
  judge,
  type JudgeWeights,
  type LineClues,
  type QuestionClues,
} from "../../../src/device/router/judge.ts";

// Likeness decides; the sixth input of "nothing fits" is the nearest concept, the fifth the menu.
const weights: JudgeWeights = {
  line: [10, 0],
  none: [0, 0, 0, 0, -10, 10, 0, 0, 0, 0, 0, 0, 0],
  noneAbove: 0.8,
  askBelow: 0.6,
};
const question = (concept: number, smallTalk = 0): QuestionClues => ({
  concepts: Float32Array.of(concept, 0),
  offers: Float32Array.of(0, 0),
  smallTalk,
});
const line = (handle: string, likeness: number): LineClues => ({
  handle,
  likeness: [likeness],
  concepts: Float32Array.of(0, 0),
  askers: Float32Array.of(0, 0),
});

/** Weights of "nothing fits" that look at one input alone. */
const only = (input: number, weight: number): readonly number[] =>
  Array.from({ length: 13 }, (_, n) => (n === input ? weight : 0));

describe("the judge", () => {
  it("picks the line that is most alike", () => {
    expect(judge(weights, question(0.1), [line("a", 0.2), line("b", 0.9)])).toEqual({
      type: "ranked",
      none: expect.any(Number),
      scored: [
        { handle: "b", score: 9 },
        { handle: "a", score: 2 },
      ],
      verdict: { type: "pick", handle: "b" },
    });
  });

  it("asks among three when the best is no more probable than the next", () => {
    const lines = ["a", "b", "c", "d"].map((handle, at) => line(handle, 0.9 - at / 100));
    expect(judge(weights, question(0.1), lines)).toMatchObject({
      verdict: { type: "unsure", handles: ["a", "b", "c"] },
    });
  });

  it("never asks about a menu of one", () => {
    expect(judge({ ...weights, askBelow: 1 }, question(0), [line("a", 0.1)])).toMatchObject({
      verdict: { type: "pick", handle: "a" },
    });
  });

  it("says that nothing fits when something known is nearer than the menu", () => {
    expect(judge(weights, question(0.9), [line("a", 0.2)])).toMatchObject({
      verdict: { type: "none" },
    });
    expect(judge(weights, question(0.3), [line("a", 0.2)])).toMatchObject({
      verdict: { type: "pick", handle: "a" },
    });
  });

  it("says that nothing fits when a known subject off the menu would serve better", () => {
    const offered: QuestionClues = { ...question(0), offers: Float32Array.of(0.9, 0) };
    const onMenu: LineClues = { ...line("a", 0.3), concepts: Float32Array.of(0.9, 0) };
    // The eleventh input is how far ahead the menu is, the twelfth its share as a logarithm.
    for (const none of [only(10, -20), only(11, -3)]) {
      const judged = { ...weights, none };
      expect(judge(judged, offered, [line("a", 0.3)])).toMatchObject({ verdict: { type: "none" } });
      expect(judge(judged, offered, [onMenu])).toMatchObject({ verdict: { type: "pick" } });
    }
  });

  it("says that nothing fits when others would sooner ask for the best line", () => {
    const judged = { ...weights, none: only(12, 5) };
    const wanted: LineClues = { ...line("a", 0.3), askers: Float32Array.of(0.5, 0.6) };
    expect(judge(judged, question(0), [wanted])).toMatchObject({ verdict: { type: "none" } });
    const quiet = line("a", 0.3);
    expect(judge(judged, question(0), [quiet])).toMatchObject({ verdict: { type: "pick" } });
  });

  it("follows a known concept to the line that is like that concept's lines", () => {
    const led: LineClues = { ...line("led", 0.3), concepts: Float32Array.of(0.9, 0) };
    const plain = line("plain", 0.4);
    const verdict = { type: "pick", handle: "led" };
    expect(
      judge({ ...weights, line: [1, 10], none: [] }, question(0.9), [plain, led]),
    ).toMatchObject({ verdict });
  });

  it("has nothing to offer from an empty menu", () => {
    expect(judge(weights, question(0), [])).toEqual({
      type: "ranked",
      scored: [],
      verdict: { type: "none" },
    });
  });
});
