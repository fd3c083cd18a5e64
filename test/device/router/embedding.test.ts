/**
 * The router that reads meaning, over any embedder of its size: what it asks of the embedder, what it
 * does with its trouble. With MiniLM itself where that was fetched; how good it is, is measured by
 * `npm run eval`, and here is a floor.
 */
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { parseCases, runChoice } from "../../../scripts/eval/choice.ts";
import type { Embedder } from "../../../src/device/model/embedder.ts";
import { openLlamaEmbedder } from "../../../src/device/model/llama/llama-embedder.ts";
import { loadEmbeddingRouter } from "../../../src/device/router/embedding.ts";
import type { Router } from "../../../src/device/router/port.ts";
import { modelFile } from "../../support/model-files.ts";
import { createWordEmbedder } from "../../support/word-embedder.ts";

const { signal } = new AbortController();
const menu = [
  { handle: "kiln-log", line: "Records firings of the kiln" },
  { handle: "glaze-book", line: "Keeps recipes of glazes" },
];

async function routerOver(embedder: Embedder): Promise<Router> {
  const router = await loadEmbeddingRouter(embedder);
  if (!router.ok) throw new Error(router.error.reason);
  return router.value;
}

describe("the embedding router", () => {
  it("embeds a menu once, and then the question alone", async () => {
    const words = createWordEmbedder(384);
    const asked: (readonly string[])[] = [];
    const router = await routerOver({
      ...words,
      embed: (texts, until) => {
        asked.push(texts);
        return words.embed(texts, until);
      },
    });
    const first = await router.rank("recipes of glazes", menu, signal);
    expect(first).toMatchObject({ scored: [{ handle: "glaze-book" }, { handle: "kiln-log" }] });
    expect(await router.rank("recipes of glazes", menu, signal)).toEqual(first);
    expect(asked).toEqual([
      [
        "recipes of glazes",
        "kiln log: Records firings of the kiln",
        "glaze book: Keeps recipes of glazes",
      ],
      ["recipes of glazes"],
    ]);
  });

  it("hands on why the embedder has no vectors", async () => {
    const router = await routerOver(createWordEmbedder(384));
    const stopped = AbortSignal.abort();
    expect(await router.rank("anything", menu, stopped)).toEqual({
      type: "failed",
      reason: "stopped before the texts were embedded",
    });
  });

  it("refuses an embedder that its weights were not made with", async () => {
    expect(await loadEmbeddingRouter(createWordEmbedder(256))).toEqual({
      ok: false,
      error: {
        type: "failed",
        reason:
          "expected an embedder with vectors of 384 numbers for the router, got words-256 with 256; install minilm",
      },
    });
  });

  it("holds the floor on the committed requests with MiniLM", async () => {
    const file = await modelFile("minilm", "the embedding router's floor");
    if (file === undefined) return;
    const opened = await openLlamaEmbedder({ file, threads: 1 });
    if (!opened.ok) throw new Error(opened.error.reason);
    await using embedder = opened.value;
    const all = parseCases(
      readFileSync(new URL("../../eval/choice-cases.json", import.meta.url), "utf8"),
    );
    // Two small menus, so that the test stays short.
    const cases = all.cases.filter(([name]) => /^unseen-(landlord|garden)$/.test(name));
    const router = await routerOver(embedder);
    const contender = { brain: "basic", router, model: null, ranks: true };
    const rows = await runChoice(contender, { ...all, cases });
    const whole = rows.find(({ menus }) => menus === "all");
    expect(whole?.n).toBe(16);
    expect(whole?.top1).toBeGreaterThan(0.6);
    expect(whole?.top3).toBeGreaterThan(0.8);
  }, 120_000);
});
