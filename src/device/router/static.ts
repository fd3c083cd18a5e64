/**
 * The static router: request and menu line are each the sum of learned rows for their words and word
 * pieces, and fit as well as the two sums point the same way, beside what plain word matching says.
 * No native code, under a millisecond, always present.
 *
 * Weights are made by scripts/train-router.ts from the bank. Spec: docs/agent.md "Routers".
 */
import { decodeBackground } from "./background.ts";
import { lexicalLikeness } from "./bm25.ts";
import { type Background, judge, type LineClues, type QuestionClues, rowsLike } from "./judge.ts";
import { createLineMemory, type LineMemory } from "./line-memory.ts";
import type { MenuLine, Router } from "./port.ts";
import { decodeTable, direction, dot, type Table } from "./table.ts";
import { featureRows, lineText } from "./text.ts";

/** Where a line lies. */
interface KnownLine {
  readonly vector: Float32Array;
  readonly concepts: Float32Array;
  readonly askers: Float32Array;
}

/** A table, its background, and the lines met so far. */
export interface StaticSpace {
  readonly table: Table;
  readonly background: Background;
  readonly lines: LineMemory<KnownLine>;
}

/** Loads the weights that ship with this release. */
export async function loadStaticRouter(): Promise<Router> {
  const { staticWeights } = await import("./static-weights.ts");
  const table = decodeTable(staticWeights.table);
  const background = decodeBackground(staticWeights.background);
  const space: StaticSpace = { table, background, lines: createLineMemory() };
  return {
    name: "static",
    rank: async (question, menu) => {
      const asked = embed(table, question);
      const lines = staticLines(space, { question, asked }, menu);
      return judge(staticWeights.judge, staticClues(background, asked), lines);
    },
  };
}

/** Sees a question beside the background. */
export function staticClues(
  { requests, lines, smallTalk }: Background,
  asked: Float32Array,
): QuestionClues {
  return {
    concepts: rowsLike(requests, asked),
    offers: rowsLike(lines, asked),
    smallTalk: Math.max(0, ...rowsLike(smallTalk, asked)),
  };
}

/** Sees a menu beside a question. */
export function staticLines(
  { table, background, lines }: StaticSpace,
  { question, asked }: { readonly question: string; readonly asked: Float32Array },
  menu: readonly MenuLine[],
): readonly LineClues[] {
  const lexical = lexicalLikeness(question, menu);
  return menu.map(({ handle, line }, at) => {
    const text = lineText(handle, line);
    let known = lines.get(text);
    if (known === undefined) {
      const vector = embed(table, text);
      known = {
        vector,
        concepts: rowsLike(background.lines, vector),
        askers: rowsLike(background.requests, vector),
      };
      lines.put(text, known);
    }
    const likeness = [dot(asked, known.vector), lexical[at] ?? 0];
    return { handle, likeness, concepts: known.concepts, askers: known.askers };
  });
}

/** The direction of a text. Zero for a text without words. */
export function embed({ rows, dims, values }: Table, text: string): Float32Array {
  const sum = new Float32Array(dims);
  for (const row of featureRows(text, rows)) {
    for (let dim = 0; dim < dims; dim += 1) {
      sum[dim] = (sum[dim] ?? 0) + (values[row * dims + dim] ?? 0);
    }
  }
  return direction(sum);
}
