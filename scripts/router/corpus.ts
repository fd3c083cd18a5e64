/**
 * The bank as texts that are fixed: every request with its slots filled, every menu line as a router
 * reads it. What is embedded once and trained on many times is named here, in one order.
 */
import { lineText } from "../../src/device/router/text.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { toolSet } from "../../src/device/skills/tools.ts";
import { bankConcepts, type Concept, nearMisses, smallTalk, slots } from "./bank.ts";
import { type Random, seededRandom } from "./random.ts";

/** A concept with its texts. */
export interface Topic {
  readonly family: string;
  readonly concept: Concept;
  /** Menu lines as `lineText` makes them, each handle with each line. */
  readonly lines: readonly {
    readonly handle: string;
    readonly line: string;
    readonly text: string;
  }[];
  /** Requests that training reads. */
  readonly requests: readonly string[];
  /** Requests that only trials read, so that "known" is not "known by heart". */
  readonly keptBack: readonly string[];
}

/** Fillings of a request that has slots. */
const fillings = 3;
const random = seededRandom(7);

/** The bank's concepts; those of the built-in menu also know the very lines that ship. */
const concepts: readonly Concept[] = bankConcepts.map((concept) => {
  const shipped = [
    ...builtinSkills.map(({ id, shortDescription }) => ({ handle: id, line: shortDescription })),
    ...toolSet.map(({ slug, description }) => ({ handle: slug, line: description })),
  ].filter(({ handle }) => concept.handles.includes(handle));
  return { ...concept, lines: [...concept.lines, ...shipped.map(({ line }) => line)] };
});

/** Handles of the menu that everybody has. */
export const builtinHandles: readonly string[] = ["search-info", "check-schedule", "current-date"];

/** All concepts as texts. */
export const topics: readonly Topic[] = concepts.map((concept) => ({
  family: concept.family,
  concept,
  lines: concept.handles.flatMap((handle) =>
    concept.lines.map((line) => ({ handle, line, text: lineText(handle, line) })),
  ),
  requests: filledAll(concept.requests.filter((_, at) => at % 5 !== 2)),
  keptBack: filledAll(concept.requests.filter((_, at) => at % 5 === 2)),
}));

/** Small talk that training reads, and that only trials read. */
export const talk: { readonly known: readonly string[]; readonly keptBack: readonly string[] } = {
  known: smallTalk.filter((_, at) => at % 3 !== 2),
  keptBack: smallTalk.filter((_, at) => at % 3 === 2),
};

/** The topics with nothing kept back: what the weights that ship learn. */
export const wholeTopics: readonly Topic[] = topics.map((topic) => ({
  ...topic,
  requests: [...topic.requests, ...topic.keptBack],
}));

/** Every text of the bank once. */
export const corpusTexts: readonly string[] = [
  ...new Set([
    ...topics.flatMap(({ lines, requests, keptBack }) => [
      ...lines.map(({ text }) => text),
      ...requests,
      ...keptBack,
    ]),
    ...smallTalk,
    ...nearMisses.map(({ request }) => request),
  ]),
];

/** A request with its slots filled. */
export function filled(frame: string, chance: Random): string {
  return frame.replace(/\{(\w+)\}/g, (_, slot: string) => {
    const values = slots[slot];
    if (values === undefined) throw new Error(`no slot {${slot}}: ${frame}`);
    return chance.pick(values);
  });
}

function filledAll(frames: readonly string[]): readonly string[] {
  return frames.flatMap((frame) =>
    Array.from({ length: frame.includes("{") ? fillings : 1 }, () => filled(frame, random)),
  );
}
