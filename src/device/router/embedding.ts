/**
 * The router that reads meaning: an embedder's vectors, seen as they are and through two small linear
 * maps (one for requests, one for menu lines), beside plain word matching. It is used when a file
 * of the embedder is installed; without one there is the static router.
 *
 * Weights fit the one embedder they were made with, by scripts/train-embedding-router.ts.
 * Spec: docs/agent.md "Routers".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { Embedder } from "../model/embedder.ts";
import { decodeBackground } from "./background.ts";
import { lexicalLikeness } from "./bm25.ts";
import { type Background, judge, type LineClues, type QuestionClues, rowsLike } from "./judge.ts";
import { createLineMemory } from "./line-memory.ts";
import type { MenuLine, Router, RouterFailure } from "./port.ts";
import { decodeTable, direction, dot, type Table, through } from "./table.ts";
import { lineText } from "./text.ts";

/** Where a line lies: as embedded, through its map, and beside the background. */
export interface KnownLine {
  readonly plain: Float32Array;
  readonly mapped: Float32Array;
  readonly concepts: Float32Array;
  readonly askers: Float32Array;
}

/** Two maps and the background, as embedded and through the maps. */
export interface EmbeddingSpace {
  readonly requestMap: Table;
  readonly lineMap: Table;
  readonly background: Background;
  readonly mappedRequests: Table;
  readonly mappedLines: Table;
}

/** Completes a space: sees the background through the maps. */
export function embeddingSpace(
  requestMap: Table,
  lineMap: Table,
  background: Background,
): EmbeddingSpace {
  return {
    requestMap,
    lineMap,
    background,
    mappedRequests: rowsThrough(requestMap, background.requests),
    mappedLines: rowsThrough(lineMap, background.lines),
  };
}

/**
 * Loads the weights that ship with this release, over an embedder that somebody else disposes of.
 *
 * Errors: the embedder is another one than the weights were made with.
 */
export async function loadEmbeddingRouter(
  embedder: Embedder,
): Promise<Result<Router, RouterFailure>> {
  const { embeddingWeights: weights } = await import("./embedding-weights.ts");
  if (embedder.dimensions !== weights.dimensions) {
    const reason = `expected an embedder with vectors of ${weights.dimensions} numbers for the router, got ${embedder.name} with ${embedder.dimensions}; install minilm`;
    return err({ type: "failed", reason });
  }
  const space = embeddingSpace(
    decodeTable(weights.requestMap),
    decodeTable(weights.lineMap),
    decodeBackground(weights.background),
  );
  const memory = createLineMemory<KnownLine>();
  return ok({
    name: "embedding",
    rank: async (question, menu, signal) => {
      const known = new Map<string, KnownLine>();
      const fresh = new Set<string>();
      for (const { handle, line } of menu) {
        const text = lineText(handle, line);
        const remembered = memory.get(text);
        if (remembered === undefined) fresh.add(text);
        else known.set(text, remembered);
      }
      const reply = await embedder.embed([question, ...fresh], signal);
      if (reply.type === "failed") return reply;
      const [asked, ...vectors] = reply.vectors;
      if (asked === undefined) return { type: "failed", reason: `${embedder.name} gave no vector` };
      for (const [at, text] of [...fresh].entries()) {
        const vector = vectors[at];
        if (vector !== undefined) known.set(text, learnLine(space, vector));
      }
      for (const [text, line] of known) memory.put(text, line);
      const { clues, lines } = seeMenu(space, { question, asked, known }, menu);
      return judge(weights.judge, clues, lines);
    },
  });
}

/** Finds where a line lies. */
export function learnLine(
  { lineMap, background, mappedRequests }: EmbeddingSpace,
  plain: Float32Array,
): KnownLine {
  const mapped = direction(through(lineMap, plain));
  const concepts = rowsLike(background.lines, plain);
  return { plain, mapped, concepts, askers: rowsLike(mappedRequests, mapped) };
}

/** A question, its vector, and the lines of the menu by their texts. */
export interface AskedMenu {
  readonly question: string;
  readonly asked: Float32Array;
  readonly known: ReadonlyMap<string, KnownLine>;
}

/** Sees a question and a menu beside each other and the background. */
export function seeMenu(
  { requestMap, background, mappedLines }: EmbeddingSpace,
  { question, asked, known }: AskedMenu,
  menu: readonly MenuLine[],
): { readonly clues: QuestionClues; readonly lines: readonly LineClues[] } {
  const mapped = direction(through(requestMap, asked));
  const lexical = lexicalLikeness(question, menu);
  const clues: QuestionClues = {
    concepts: rowsLike(background.requests, asked),
    offers: rowsLike(mappedLines, mapped),
    smallTalk: Math.max(0, ...rowsLike(background.smallTalk, asked)),
  };
  const lines = menu.map(({ handle, line }, at) => {
    const lies = known.get(lineText(handle, line));
    if (lies === undefined) throw new Error(`expected a vector for the line of @${handle}`);
    const likeness = [dot(mapped, lies.mapped), dot(asked, lies.plain), lexical[at] ?? 0];
    return { handle, likeness, concepts: lies.concepts, askers: lies.askers };
  });
  return { clues, lines };
}

function rowsThrough(map: Table, { rows, dims, values }: Table): Table {
  const mapped = new Float32Array(rows * map.dims);
  for (let row = 0; row < rows; row += 1) {
    const vector = values.subarray(row * dims, (row + 1) * dims);
    mapped.set(direction(through(map, vector)), row * map.dims);
  }
  return { rows, dims: map.dims, values: mapped };
}
