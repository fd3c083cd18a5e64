/**
 * Training pairs of the static router: a request in everyday disguise (slots filled, a greeting, a
 * typo) and a menu line that serves it. Related words make pairs of their own.
 */
import { lineText } from "../../src/device/router/text.ts";
import { type Concept, smallTalk, wordGroups } from "./bank.ts";
import { builtinHandles, filled } from "./corpus.ts";
import type { Random } from "./random.ts";

/** One pair. Pairs of one group are no negatives of each other. */
export interface Pair {
  readonly request: string;
  readonly line: string;
  readonly group: number;
}

/** Group of small talk, whose line is nothing. */
const smallTalkGroup = -1;
/** Share of pairs that are of the built-in menu. */
const builtinShare = 0.3;
/** What stands for "nothing fits" as a line. */
const noneLine = "nothing fits small talk chat";

const before = [
  "",
  "",
  "",
  "",
  "",
  "please ",
  "can you ",
  "hey, ",
  "so, ",
  "could you ",
  "I'd like to know: ",
  "quick question: ",
];
const after = ["", "", "", "", "", "?", " please", " thanks", ".", "!", " for me", " now"];

/** A request of a concept as somebody might type it. */
function requestOf(concept: Concept, random: Random): string {
  return disguised(filled(random.pick(concept.requests), random), random);
}

/** A menu line of a concept. */
function lineOf(concept: Concept, random: Random): string {
  const handle = random.pick(concept.handles);
  return lineText(random.next() < 0.2 ? "" : handle, random.pick(concept.lines));
}

/** That many pairs, mixed. */
export function trainingPairs(
  of: readonly Concept[],
  count: number,
  random: Random,
): readonly Pair[] {
  return Array.from({ length: count }, () => {
    const draw = random.next();
    if (draw < 0.04) {
      const request = disguised(random.pick(smallTalk), random);
      return { request, line: noneLine, group: smallTalkGroup };
    }
    if (draw < 0.34) return wordPair(random);
    const index = pickIndex(of, random);
    const concept = of[index];
    if (concept === undefined) throw new Error("no concepts to train on");
    return { request: requestOf(concept, random), line: lineOf(concept, random), group: index };
  });
}

/**
 * The built-in menu, which everyone has, is drawn far more often, so that nearly every batch has to
 * tell its lines from one another.
 */
function pickIndex(of: readonly Concept[], random: Random): number {
  if (random.next() >= builtinShare) return Math.floor(random.next() * of.length);
  const handle = random.pick(builtinHandles);
  return of.findIndex(({ handles }) => handles.includes(handle));
}

const wordRequests = [
  "{a}",
  "{a} and {b}",
  "what about the {a}",
  "the {a}, please",
  "something with {a} {b}",
  "is there {a}",
  "my {a} {b}",
  "how is the {a}",
  "I have {a}",
  "do it with the {a}",
];
const wordLines = [
  "{a} {b} {c}",
  "Looks after {a}, {b} and {c}.",
  "Keeps track of {a} and {b}.",
  "Helps with {a} or {b}.",
  "For {a}, {b} and {c}",
  "Says what {a} and {b} are.",
  "Works out {a} and {b}.",
];

function wordPair(random: Random): Pair {
  const index = Math.floor(random.next() * wordGroups.length);
  const words = random.shuffled(wordGroups[index] ?? []);
  const fill = (frame: string, from: number): string =>
    frame.replace(/\{([abc])\}/g, (_, slot: string) => words[from + "abc".indexOf(slot)] ?? "");
  return {
    request: fill(random.pick(wordRequests), 0),
    // Mostly other words of the group, sometimes the same: kinship must not unlearn identity.
    line: fill(random.pick(wordLines), random.next() < 0.25 ? 0 : 2),
    group: 10_000 + index,
  };
}

function disguised(request: string, random: Random): string {
  const text = `${random.pick(before)}${request}${random.pick(after)}`;
  if (random.next() > 0.1 || text.length < 8) return text;
  const at = 1 + Math.floor(random.next() * (text.length - 3));
  return `${text.slice(0, at)}${text.slice(at + 1)}`;
}
