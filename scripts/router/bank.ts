/**
 * The routers' training text, parsed: concepts with menu lines and requests, families of concepts
 * that stand on one person's menu, groups of related words, and small talk.
 *
 * Form of bank/*.txt: `== family`, `# handles of a concept`, `> menu line`, `! request of the
 * family's field that none of its concepts serves`, and every other line a request; `{slot}` stands
 * for any value of slots.txt. None of the evaluation's text may appear there
 * (test/router/bank.test.ts). Spec: docs/agent.md "Routers".
 */
import { readdirSync, readFileSync } from "node:fs";

/** One thing that a skill can be for. */
export interface Concept {
  /** `everyday`, or the field whose menu this concept stands on. */
  readonly family: string;
  readonly handles: readonly string[];
  readonly lines: readonly string[];
  /** With `{slot}`s. */
  readonly requests: readonly string[];
}

/** The family of what everybody's menu may hold. */
export const everyday = "everyday";

const folder = new URL("bank/", import.meta.url);
const special: ReadonlySet<string> = new Set(["slots.txt", "small-talk.txt", "words.txt"]);
const parsed = readdirSync(folder)
  .filter((name) => name.endsWith(".txt") && !special.has(name))
  .toSorted()
  .map((name) => parseConcepts(linesOf(name)));

/** All concepts, in the order of the files. */
export const bankConcepts: readonly Concept[] = parsed.flatMap(({ concepts }) => concepts);

/** Requests of a family's field that its menu does not serve. */
export const nearMisses: readonly { readonly family: string; readonly request: string }[] =
  parsed.flatMap(({ misses }) => misses);

/** Words that belong together. */
export const wordGroups: readonly (readonly string[])[] = linesOf("words.txt").map((line) =>
  line.split(" "),
);

/** What no skill answers. */
export const smallTalk: readonly string[] = linesOf("small-talk.txt");

/** What stands in a slot. */
export const slots: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  linesOf("slots.txt").map((line) => {
    const at = line.indexOf(" ");
    return [line.slice(0, at), line.slice(at + 1).split("|")] as const;
  }),
);

interface OpenConcept extends Concept {
  readonly lines: string[];
  readonly requests: string[];
}

function parseConcepts(rows: readonly string[]): {
  readonly concepts: readonly Concept[];
  readonly misses: readonly { readonly family: string; readonly request: string }[];
} {
  const concepts: OpenConcept[] = [];
  const misses: { readonly family: string; readonly request: string }[] = [];
  let family = "";
  for (const row of rows) {
    const [mark, rest] = [row.slice(0, row.indexOf(" ")), row.slice(row.indexOf(" ") + 1)];
    if (mark === "==") family = rest;
    else if (mark === "!") misses.push({ family, request: rest });
    else if (mark === "#") {
      concepts.push({ family, handles: rest.split(" "), lines: [], requests: [] });
    } else if (mark === ">") concepts.at(-1)?.lines.push(rest);
    else concepts.at(-1)?.requests.push(row);
  }
  return { concepts, misses };
}

function linesOf(name: string): readonly string[] {
  return readFileSync(new URL(name, folder), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
