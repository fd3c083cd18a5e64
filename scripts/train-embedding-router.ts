/**
 * `npm run train:embedding-router [-- --vectors FILE] [--out FILE]`: makes the weights of the router
 * that reads meaning from the bank's text, with the embedder that `npm run models minilm` fetches.
 * Seeded: the same text and vectors give the same weights. Format the file after.
 *
 * Trainings that leave a quarter of the concepts out serve to fit the judge on what they do not know;
 * those that know all are what ships, as their mean. Thresholds are chosen on requests set aside for
 * that. Spec: docs/agent.md "Routers".
 */
import { parseArgs } from "node:util";

import { openLlamaEmbedder } from "../src/device/model/llama/llama-embedder.ts";
import { encodeBackground } from "../src/device/router/background.ts";
import {
  embeddingSpace,
  type EmbeddingSpace,
  type KnownLine,
  learnLine,
  seeMenu,
} from "../src/device/router/embedding.ts";
import { encodeTable, type Table } from "../src/device/router/table.ts";
import { lineText } from "../src/device/router/text.ts";
import type { EmbeddingWeights } from "../src/device/router/weights.ts";
import { cachedModel } from "./models/cache.ts";
import { backgroundOf } from "./router/background.ts";
import { fitJudge, type KindWeights, type Observation } from "./router/calibrate.ts";
import { corpusTexts, talk, type Topic, topics, wholeTopics } from "./router/corpus.ts";
import { devTexts, devTrials } from "./router/dev-trials.ts";
import { trainMaps, trainMeanMaps } from "./router/maps.ts";
import { seededRandom } from "./router/random.ts";
import { makeTrials, splitTopics, type Trial } from "./router/trials.ts";
import { vectorsOf } from "./router/vectors.ts";
import { writeWeights } from "./router/weights-file.ts";

const { values: options } = parseArgs({
  options: { vectors: { type: "string" }, out: { type: "string" } },
});
const out = options.out ?? "src/device/router/embedding-weights.ts";
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const parts = 4;
/** Parts of the bank that are held out, one after the other, while the judge is fitted. */
const heldOutParts = [0, 2];
/** Trials of each of them. */
const trials = 1_200;
/** Trainings whose mean is what ships. */
const trainings = 3;
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
  [...corpusTexts, ...devTexts],
  options.vectors ?? "node_modules/.cache/router-vectors.txt",
  embedder.value,
);
await embedder.value[Symbol.asyncDispose]();
const vectorOf = (text: string): Float32Array => {
  const vector = vectors.get(text);
  if (vector === undefined) throw new Error(`no vector for “${text}”`);
  return vector;
};

const observations = heldOutParts.flatMap((part) => {
  const split = splitTopics(topics, parts, part);
  const partial = spaceOf(trainMaps(split.known, vectors, random), split.known, talk.known);
  return observe(partial, makeTrials(split, trials, random));
});
const space = spaceOf(trainMeanMaps(wholeTopics, vectors, random, trainings), wholeTopics, [
  ...talk.known,
  ...talk.keptBack,
]);
const judge = fitJudge(observations, observe(space, devTrials), kindWeights, say);
const weights: EmbeddingWeights = {
  dimensions: space.requestMap.dims,
  requestMap: encodeTable(space.requestMap),
  lineMap: encodeTable(space.lineMap),
  background: encodeBackground(space.background),
  judge,
};
writeWeights({ out, router: "embedding", script: "scripts/train-embedding-router.ts", weights });
say(`${out} written`);

/** Trials as a router sees them. */
function observe(seen: EmbeddingSpace, of: readonly Trial[]): readonly Observation[] {
  const known = new Map<string, KnownLine>();
  return of.map((trial) => {
    for (const { handle, line } of trial.menu) {
      const text = lineText(handle, line);
      if (!known.has(text)) known.set(text, learnLine(seen, vectorOf(text)));
    }
    const { request: question, menu } = trial;
    const { clues, lines } = seeMenu(seen, { question, asked: vectorOf(question), known }, menu);
    return { trial, question: clues, lines };
  });
}

function spaceOf(
  { requestMap, lineMap }: { readonly requestMap: Table; readonly lineMap: Table },
  learned: readonly Topic[],
  smallTalk: readonly string[],
): EmbeddingSpace {
  say(`maps of ${learned.length} concepts trained`);
  return embeddingSpace(requestMap, lineMap, backgroundOf(learned, smallTalk, vectorOf));
}
