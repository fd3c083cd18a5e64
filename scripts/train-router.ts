/**
 * `npm run train:router [-- --pairs N] [--out FILE]`: makes the static router's weights from the text
 * in scripts/router/bank. Seeded: the same text gives the same weights. Format the file after.
 *
 * Two trainings. The first leaves a quarter of the concepts out and only serves to fit the judge on
 * what it does not know; the second knows all and is what ships. Thresholds are chosen on requests
 * set aside for that. Spec: docs/agent.md "Routers".
 */
import { parseArgs } from "node:util";

import { encodeBackground } from "../src/device/router/background.ts";
import { createLineMemory } from "../src/device/router/line-memory.ts";
import { embed, staticClues, staticLines, type StaticSpace } from "../src/device/router/static.ts";
import { encodeTable } from "../src/device/router/table.ts";
import type { StaticWeights } from "../src/device/router/weights.ts";
import { backgroundOf } from "./router/background.ts";
import { fitJudge, type KindWeights, type Observation } from "./router/calibrate.ts";
import { talk, type Topic, topics, wholeTopics } from "./router/corpus.ts";
import { devTrials } from "./router/dev-trials.ts";
import { trainingPairs } from "./router/pairs.ts";
import { seededRandom } from "./router/random.ts";
import { makeTrials, splitTopics, type Trial } from "./router/trials.ts";
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
const full = spaceOf(wholeTopics, [...talk.known, ...talk.keptBack]);
const judge = fitJudge(
  observe(partial, makeTrials(split, trials, random)),
  observe(full, devTrials),
  kindWeights,
  say,
);
const weights: StaticWeights = {
  table: encodeTable(full.table),
  background: encodeBackground(full.background),
  judge,
};
writeWeights({ out, router: "static", script: "scripts/train-router.ts", weights });
say(`${out} written`);

/** Trials as a router sees them. */
function observe(space: StaticSpace, of: readonly Trial[]): readonly Observation[] {
  return of.map((trial) => {
    const asked = embed(space.table, trial.request);
    return {
      trial,
      question: staticClues(space.background, asked),
      lines: staticLines(space, { question: trial.request, asked }, trial.menu),
    };
  });
}

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
