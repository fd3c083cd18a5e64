/**
 * The trainings in small: the same seed gives the same weights, they learn what they are shown, and a
 * judge that is fitted on trials keeps to its rules.
 */
import { describe, expect, it } from "vitest";

import { backgroundOf } from "../../scripts/router/background.ts";
import { everyday } from "../../scripts/router/bank.ts";
import { fitJudge } from "../../scripts/router/calibrate.ts";
import { talk, topics } from "../../scripts/router/corpus.ts";
import { trainMaps } from "../../scripts/router/maps.ts";
import { seededRandom } from "../../scripts/router/random.ts";
import { makeTrials, splitTopics } from "../../scripts/router/trials.ts";
import { embeddingSpace, learnLine, seeMenu } from "../../src/device/router/embedding.ts";
import { lineText } from "../../src/device/router/text.ts";
import { createWordEmbedder } from "../support/word-embedder.ts";

const { signal } = new AbortController();
const fields = [...new Set(topics.map(({ family }) => family))].filter((one) => one !== everyday);
const few = topics.filter(
  ({ family }, at) => fields.indexOf(family) % 8 === 0 || (family === everyday && at % 4 === 0),
);

async function fakeVectors(dims: number): Promise<ReadonlyMap<string, Float32Array>> {
  const texts = topics.flatMap(({ lines, requests, keptBack }) => [
    ...lines.map(({ text }) => text),
    ...requests,
    ...keptBack,
  ]);
  const all = [...texts, ...talk.known, ...talk.keptBack];
  const reply = await createWordEmbedder(dims).embed(all, signal);
  if (reply.type === "failed") throw new Error(reply.reason);
  return new Map(all.map((text, at) => [text, reply.vectors[at] ?? new Float32Array(dims)]));
}

describe("training", () => {
  it("gives the same maps for the same seed, and moves them", async () => {
    const vectors = await fakeVectors(24);
    const train = (seed: number): Float32Array =>
      trainMaps(few, vectors, seededRandom(seed), 5).requestMap.values;
    expect(train(1)).toEqual(train(1));
    expect(train(1)).not.toEqual(train(2));
    expect(train(1)[1]).not.toBe(0);
  });

  it("holds whole fields out, and never the built-in menu", () => {
    const { known, heldOut } = splitTopics(topics, 4, 1);
    const knownFields = new Set(known.map(({ family }) => family));
    const shared = heldOut.filter(({ family }) => family !== everyday && knownFields.has(family));
    expect(shared).toEqual([]);
    expect(known.length + heldOut.length).toBe(topics.length);
    expect(heldOut.flatMap(({ concept }) => concept.handles)).not.toContain("check-schedule");
  });

  it("fits a judge that seldom says that nothing fits what fits", async () => {
    const vectors = await fakeVectors(48);
    const vectorOf = (text: string): Float32Array => vectors.get(text) ?? new Float32Array(48);
    const split = splitTopics(topics, 8, 1);
    const random = seededRandom(3);
    const { requestMap, lineMap } = trainMaps(split.known, vectors, random, 2);
    const background = backgroundOf(split.known, talk.known, vectorOf);
    const space = embeddingSpace(requestMap, lineMap, background);
    const said: string[] = [];
    const observed = makeTrials(split, 150, random).map((trial) => {
      const asked = vectorOf(trial.request);
      const known = new Map(
        trial.menu.map(({ handle, line }) => {
          const text = lineText(handle, line);
          return [text, learnLine(space, vectorOf(text))] as const;
        }),
      );
      const { clues, lines } = seeMenu(
        space,
        { question: trial.request, asked, known },
        trial.menu,
      );
      return { trial, question: clues, lines };
    });
    const kinds = { field: 1, unknown: 1, known: 1, off: 1, talk: 1, near: 1 };
    const judge = fitJudge(observed, observed, kinds, (line) => said.push(line));
    expect(judge.line[0]).toBeGreaterThan(0);
    expect(judge.line).toHaveLength(4);
    expect(said).toHaveLength(8);
    const claimed = said
      .filter((line) => /^(field|unknown|known) /.test(line))
      .map((line) => Number(/nothing fits ([\d.]+)/.exec(line)?.[1]));
    expect(claimed.length).toBe(3);
    expect(Math.max(...claimed)).toBeLessThan(0.2);
  });
});
