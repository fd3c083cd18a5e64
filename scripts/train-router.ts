/**
 * `npm run train:router [-- --pairs N] [--out FILE]`: makes the static router's weights from the text
 * in scripts/router/bank. Seeded: the same text gives the same weights. Format the file after.
 *
 * Two trainings. The first leaves a quarter of the concepts out and only serves to fit the judge on
 * what it does not know; the second knows all and is what ships. Spec: docs/agent.md "Routers".
 */
import { parseArgs } from "node:util";

import { encodeBackground } from "../src/device/router/background.ts";
import { questionClues } from "../src/device/router/judge.ts";
import { createLineMemory } from "../src/device/router/line-memory.ts";
import { embed, staticLines, type StaticSpace } from "../src/device/router/static.ts";
import { encodeTable } from "../src/device/router/table.ts";
import type { StaticWeights } from "../src/device/router/weights.ts";
import { backgroundOf } from "./router/background.ts";
import { fitJudge, type KindWeights } from "./router/calibrate.ts";
import { talk, type Topic, topics, wholeTopics } from "./router/corpus.ts";
import { trainingPairs } from "./router/pairs.ts";
import { seededRandom } from "./router/random.ts";
import { makeTrials, splitTopics } from "./router/trials.ts";
import { type Settings, trainTable } from "./router/two-tower.ts";
import { writeWeights } from "./router/weights-file.ts";

const { values: options } = parseArgs({
  options: { pairs: { type: "string" }, out: { type: "string" } },
});
const pairCount = Number(options.pairs ?? "100000");
const out = options.out ?? "src/device/router/static-weights.ts";
const settings: Settings = {
  rows: 8_192,
  dims: 40,
  batch: 128,
  initial: 0.1,
  dropped: 0.25,
  droppedWords: 0,
  rate: 0.04,
};
const parts = 4;
const trials = 4_000;
/** What is known counts most: elsewhere word matching is all there is, and would outvote the rest. */
const kindWeights: KindWeights = {
  field: 0.2,
  unknown: 0.5,
  known: 3,
  off: 1,
  talk: 1,
  near: 0.3,
};
const random = seededRandom(20_260);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const split = splitTopics(topics, parts, 3);
const partial = spaceOf(
  split.known.map((topic) => ({
    ...topic,
    concept: { ...topic.concept, requests: topic.concept.requests.filter((_, at) => at % 5 !== 2) },
  })),
  talk.known,
);
const judge = fitJudge(
  makeTrials(split, trials, random).map((trial) => {
    const asked = embed(partial.table, trial.request);
    return {
      trial,
      question: questionClues(partial.background, asked),
      lines: staticLines(partial, { question: trial.request, asked }, trial.menu),
    };
  }),
  kindWeights,
  say,
);
const full = spaceOf(wholeTopics, [...talk.known, ...talk.keptBack]);
const weights: StaticWeights = {
  table: encodeTable(full.table),
  background: encodeBackground(full.background),
  judge,
};
writeWeights({ out, router: "static", script: "scripts/train-router.ts", weights });
say(`${out} written`);

function spaceOf(learned: readonly Topic[], smallTalk: readonly string[]): StaticSpace {
  const pairs = trainingPairs(
    learned.map(({ concept }) => concept),
    pairCount,
    random,
  );
  const table = trainTable(pairs, settings, random);
  say(`table of ${learned.length} concepts trained`);
  const background = backgroundOf(learned, smallTalk, (text) => embed(table, text));
  return { table, background, lines: createLineMemory() };
}
