/**
 * The static router's training text, parsed: concepts with menu lines and requests, groups of related
 * words, and small talk. Read by scripts/train-router.ts and by the test that keeps the evaluation's
 * text out; the running router never loads it.
 *
 * Spec: docs/agent.md "Routers".
 */
import { home } from "./home.ts";
import { household } from "./household.ts";
import { outAndAbout } from "./out-and-about.ts";
import { ownThings } from "./own-things.ts";
import { smallTalk as smallTalkText } from "./small-talk.ts";
import { talking } from "./talking.ts";
import { words } from "./words.ts";
import { work } from "./work.ts";

/** One thing that a skill can be for. */
export interface Concept {
  readonly handles: readonly string[];
  readonly lines: readonly string[];
  /** With `{slot}`s. */
  readonly requests: readonly string[];
}

/** All concepts. */
export const concepts: readonly Concept[] = [
  ownThings,
  talking,
  home,
  household,
  outAndAbout,
  work,
].flatMap((text) => text.trim().split(/\n\n+/).map(parseConcept));

/** Words that belong together. */
export const wordGroups: readonly (readonly string[])[] = linesOf(words).map((line) =>
  line.split(" "),
);

/** What no skill answers. */
export const smallTalk: readonly string[] = linesOf(smallTalkText);

function parseConcept(block: string): Concept {
  const rows = linesOf(block);
  const handles = rows
    .filter((row) => row.startsWith("# "))
    .flatMap((row) => row.slice(2).split(" "));
  const lines = rows.filter((row) => row.startsWith("> ")).map((row) => row.slice(2));
  const requests = rows.filter((row) => !/^[#>] /.test(row));
  if (handles.length === 0 || lines.length === 0 || requests.length === 0) {
    throw new Error(`expected handles, lines and requests in the concept ${block.slice(0, 40)}`);
  }
  return { handles, lines, requests };
}

function linesOf(text: string): readonly string[] {
  return text.trim().split("\n");
}
