/**
 * `tsx scripts/train-router.ts [--pairs N] [--out FILE]`: makes the static router's weights from the
 * text in src/device/router/bank. Seeded: the same text gives the same weights. Format the file after.
 *
 * Two trainings. The first leaves a quarter of the concepts out and is only used to learn, on those,
 * when nothing fits; the second knows all and is what ships. Spec: docs/agent.md "Routers".
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { embed, noneProbability } from "../src/device/router/static.ts";
import { encodeTable, type StaticWeights } from "../src/device/router/static-table.ts";
import { accuracyOf, backgroundOf, fitNone, judgeTrials, makeTrials } from "./router/calibrate.ts";
import { concepts, noneLine, trainingPairs } from "./router/pairs.ts";
import { seededRandom } from "./router/random.ts";
import { type Settings, trainTable } from "./router/two-tower.ts";

const { values: options } = parseArgs({
  options: { pairs: { type: "string" }, out: { type: "string" } },
});
const pairCount = Number(options.pairs ?? "140000");
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
/** The highest threshold that recognises this share of made-up misfits is taken. */
const wantedNoneShare = 0.8;
const random = seededRandom(20_260);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const heldOut = concepts.filter((_, index) => index % 4 === 3);
const known = concepts.filter((_, index) => index % 4 !== 3);
// Known concepts keep a fifth of their requests back, so that "known" is not "known by heart".
const keptBack = known.map((one) => ({
  ...one,
  requests: one.requests.filter((_, at) => at % 5 === 2),
}));
const learned = known.map((one) => ({
  ...one,
  requests: one.requests.filter((_, at) => at % 5 !== 2),
}));
const partial = trainTable(trainingPairs(learned, pairCount, random), settings, random);
const trained = { table: partial, background: backgroundOf(partial, learned) };
const unseenTrials = makeTrials(heldOut, 1_200, random);
const seenTrials = makeTrials(
  keptBack.filter(({ requests }) => requests.length > 0),
  1_200,
  random,
);
const trials = [...unseenTrials, ...seenTrials];
let lexicalWeight = 0;
let best = 0;
for (const weight of [0, 0.2, 0.4, 0.6, 0.8, 1, 1.3, 1.6, 2]) {
  const unseen = accuracyOf(judgeTrials(trained, unseenTrials, weight));
  const seen = accuracyOf(judgeTrials(trained, seenTrials, weight));
  const share = (unseen + seen) / 2;
  say(
    `word matching × ${weight}: right on unseen concepts ${unseen.toFixed(3)}, on known ones ${seen.toFixed(3)}`,
  );
  // Half a point better is no reason to trust words more than what was learned.
  if (share > best + 0.005) [best, lexicalWeight] = [share, weight];
}
const judged = judgeTrials(trained, trials, lexicalWeight);
const calibration = fitNone(judged);
const fitting = judged.filter(({ none }) => !none).length;
const nones = judged.length - fitting;
let noneAbove = 0;
for (const above of [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]) {
  const said = judged.map(({ inputs }) => noneProbability(calibration, inputs) >= above);
  const hits = judged.filter(({ none }, at) => none && said[at]).length;
  const lost = judged.filter(({ right }, at) => right && said[at]).length;
  if (hits / nones >= wantedNoneShare) noneAbove = above;
  say(
    `nothing fits above ${above}: ${hits}/${nones} recognised, ${lost} good answers lost of ${fitting}`,
  );
}

const full = trainTable(trainingPairs(concepts, pairCount, random), settings, random);
const weights: StaticWeights = {
  rows: settings.rows,
  dims: settings.dims,
  table: encodeTable(full),
  background: { rows: concepts.length, table: encodeTable(backgroundOf(full, concepts)) },
  none: [...embed(full, noneLine)].map((value) => Number(value.toFixed(4))),
  lexicalWeight,
  calibration: calibration.map((value) => Number(value.toFixed(4))),
  noneAbove,
  leadBelow: 0.05,
};
writeFileSync(
  out,
  `/**
 * Weights of the static router: made by scripts/train-router.ts, never edited.
 */
import type { StaticWeights } from "./static-table.ts";

/** The weights that ship. */
export const staticWeights: StaticWeights = ${JSON.stringify(weights)};
`,
);
say(`${out}: ${weights.table.length} characters of weights`);
