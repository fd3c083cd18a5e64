/**
 * `npm run train:embedding-router [-- --vectors FILE] [--out FILE]`: makes the weights of the router
 * that reads meaning from the bank's text, with the embedder that `npm run models minilm` fetches.
 * Seeded: the same text and vectors give the same weights. Format the file after.
 *
 * Two trainings. The first leaves a quarter of the concepts out and only serves to fit the judge on
 * what it does not know; the second knows all and is what ships. Spec: docs/agent.md "Routers".
 */
import { parseArgs } from "node:util";

import { openLlamaEmbedder } from "../src/device/model/llama/llama-embedder.ts";
import { encodeBackground } from "../src/device/router/background.ts";
import {
  embeddingLines,
  type EmbeddingSpace,
  type KnownLine,
  learnLine,
} from "../src/device/router/embedding.ts";
import { questionClues } from "../src/device/router/judge.ts";
import { encodeTable } from "../src/device/router/table.ts";
import { lineText } from "../src/device/router/text.ts";
import type { EmbeddingWeights } from "../src/device/router/weights.ts";
import { cachedModel } from "./models/cache.ts";
import { backgroundOf } from "./router/background.ts";
import { fitJudge, type KindWeights, type Observation } from "./router/calibrate.ts";
import { corpusTexts, talk, type Topic, topics, wholeTopics } from "./router/corpus.ts";
import { trainMaps } from "./router/maps.ts";
import { seededRandom } from "./router/random.ts";
import { makeTrials, splitTopics } from "./router/trials.ts";
import { vectorsOf } from "./router/vectors.ts";
import { writeWeights } from "./router/weights-file.ts";

const { values: options } = parseArgs({
  options: { vectors: { type: "string" }, out: { type: "string" } },
});
const out = options.out ?? "src/device/router/embedding-weights.ts";
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const parts = 4;
const trials = 2_400;
/** Fields are worded more obliquely than people ask, and near misses nobody could always tell. */
const kindWeights: KindWeights = {
  field: 0.5,
  unknown: 1,
  known: 1,
  off: 1,
  talk: 1,
  near: 0.45,
};
const random = seededRandom(384);

const file = cachedModel("minilm");
if (file === undefined) throw new Error("no minilm in the models' cache: npm run models minilm");
const embedder = await openLlamaEmbedder({ file });
if (!embedder.ok) throw new Error(embedder.error.reason);
const vectors = await vectorsOf(
  corpusTexts,
  options.vectors ?? "node_modules/.cache/router-vectors.txt",
  embedder.value,
);
await embedder.value[Symbol.asyncDispose]();
const vectorOf = (text: string): Float32Array => {
  const vector = vectors.get(text);
  if (vector === undefined) throw new Error(`no vector for “${text}”`);
  return vector;
};

const judge = fitJudge(observe(0), kindWeights, say);
const space = spaceOf(wholeTopics, [...talk.known, ...talk.keptBack]);
const weights: EmbeddingWeights = {
  dimensions: space.requestMap.dims,
  requestMap: encodeTable(space.requestMap),
  lineMap: encodeTable(space.lineMap),
  background: encodeBackground(space.background),
  judge,
};
writeWeights({ out, router: "embedding", script: "scripts/train-embedding-router.ts", weights });
say(`${out} written`);

/** Trials of one split, as a router that has learned its known part sees them. */
function observe(part: number): readonly Observation[] {
  const split = splitTopics(topics, parts, part);
  const partial = spaceOf(split.known, talk.known);
  const known = new Map<string, KnownLine>();
  return makeTrials(split, trials, random).map((trial) => {
    const asked = vectorOf(trial.request);
    for (const { handle, line } of trial.menu) {
      const text = lineText(handle, line);
      if (!known.has(text)) known.set(text, learnLine(partial, vectorOf(text)));
    }
    return {
      trial,
      question: questionClues(partial.background, asked),
      lines: embeddingLines(partial, { question: trial.request, asked, known }, trial.menu),
    };
  });
}

function spaceOf(learned: readonly Topic[], smallTalk: readonly string[]): EmbeddingSpace {
  const maps = trainMaps(learned, vectors, random);
  say(`maps of ${learned.length} concepts trained`);
  return { ...maps, background: backgroundOf(learned, smallTalk, vectorOf) };
}
