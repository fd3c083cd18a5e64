/**
 * BM25 over the menu's lines: what plain word matching can do. It is the yardstick of every other
 * router, and the lexical part of them.
 *
 * Spec: docs/agent.md "Routers".
 */
import { byScore, type MenuLine, type Router, type ScoredHandle } from "./port.ts";
import { lineText, stemsOf } from "./text.ts";

// The usual constants: how soon repetition stops counting, and how much length matters.
const saturation = 1.2;
const lengthWeight = 0.75;
/** A score that is half of a likeness. */
const halfLikeness = 2;

/** Scores every line for a question, in menu order. 0: no word in common. */
function bm25Scores(question: string, menu: readonly MenuLine[]): readonly ScoredHandle[] {
  const lines = menu.map(({ handle, line }) => stemsOf(lineText(handle, line)));
  const meanLength =
    lines.reduce((sum, stems) => sum + stems.length, 0) / Math.max(1, lines.length);
  const asked = [...new Set(stemsOf(question))];
  const holders = new Map(
    asked.map((stem) => [stem, lines.filter((stems) => stems.includes(stem)).length]),
  );
  return menu.map(({ handle }, index) => {
    const stems = lines[index] ?? [];
    let score = 0;
    for (const stem of asked) {
      const count = stems.filter((one) => one === stem).length;
      if (count === 0) continue;
      const held = holders.get(stem) ?? 0;
      const rarity = Math.log(1 + (menu.length - held + 0.5) / (held + 0.5));
      const damping = 1 - lengthWeight + (lengthWeight * stems.length) / Math.max(1, meanLength);
      score += (rarity * count * (saturation + 1)) / (count + saturation * damping);
    }
    return { handle, score };
  });
}

/** Word matching as a likeness in 0 … 1, in menu order. */
export function lexicalLikeness(question: string, menu: readonly MenuLine[]): readonly number[] {
  return bm25Scores(question, menu).map(({ score }) => score / (score + halfLikeness));
}

/** The yardstick: the best line, and "nothing fits" when no line shares a word. */
export const bm25Router: Router = {
  name: "bm25",
  rank: async (question, menu) => {
    const scored = byScore(bm25Scores(question, menu));
    const [best] = scored;
    return {
      type: "ranked",
      scored,
      verdict:
        best === undefined || best.score === 0
          ? { type: "none" }
          : { type: "pick", handle: best.handle },
    };
  },
};
