/**
 * Reading and rewriting @-mentions in prose. This is the only parser of mentions: editor, planner,
 * registry, sharing, merge and rename all use it, so a text means the same everywhere.
 *
 * It does not know what a slug names; callers bring the holders. Text in code spans and fences is
 * read like any other, because a model reads it like any other.
 * Spec: docs/skills.md "Names".
 */
import { assertNever } from "../../shared/result.ts";

/** A mention that counts. `start` is the `@`, `end` is one past the last character of the slug. */
export interface Mention {
  readonly slug: string;
  readonly start: number;
  readonly end: number;
}

/** Why an `@slug` in a text does not count as a mention. */
export type Refusal = "escaped" | "before" | "after";

/** An `@slug` that names a holder but does not count, and the character that spoils it. */
export interface NearMiss extends Mention {
  readonly refusal: Refusal;
  readonly character: string;
}

interface Candidate extends Mention {
  readonly refusal: Refusal | undefined;
  readonly character: string;
}

// ASCII classes only and no `i` flag: with `i` and `u` together the Kelvin sign would match `k`.
const run = /[A-Za-z0-9][A-Za-z0-9-]*/y;
const asciiBefore = /[A-Za-z0-9_./\-@]/;
const alphabetLetter =
  /(?=\p{L})[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;
const combiningMark = /\p{M}/u;
const joinsAfter = /[_\u2010\u2011\p{Default_Ignorable_Code_Point}]/u;
const startsAlphanumeric = /^[A-Za-z0-9]/;

/** Every mention in reading order, repeated ones included. */
export function mentionSpans(text: string): readonly Mention[] {
  return candidates(text)
    .filter((candidate) => candidate.refusal === undefined)
    .map(({ slug, start, end }) => ({ slug, start, end }));
}

/** The slugs a text mentions: first-seen order, without repetition. The body is the manifest. */
export function parseMentions(text: string): readonly string[] {
  return [...new Set(mentionSpans(text).map((mention) => mention.slug))];
}

/** `@slug`s that name a holder and yet do not count, so that nothing is lost silently. */
export function nearMisses(text: string, isHolder: (slug: string) => boolean): readonly NearMiss[] {
  const missed: NearMiss[] = [];
  for (const { refusal, ...rest } of candidates(text)) {
    if (refusal !== undefined && isHolder(rest.slug)) missed.push({ ...rest, refusal });
  }
  return missed;
}

/** One sentence that tells a person why a near miss does not count. */
export function nearMissText(miss: NearMiss): string {
  const point = (miss.character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const character = /^[\x21-\x7e]$/.test(miss.character)
    ? `“${miss.character}”`
    : `“${miss.character}” (U+${point})`;
  switch (miss.refusal) {
    case "escaped":
      return `@${miss.slug} does not count here, because the backslash before it escapes it.`;
    case "before":
      return `@${miss.slug} does not count here, because ${character} stands directly before it.`;
    case "after":
      return `@${miss.slug} does not count here, because ${character} follows it directly.`;
    default:
      return assertNever(miss.refusal);
  }
}

/**
 * Replaces mentions by one simultaneous map, so a swap of two names is a swap. Only whole slugs
 * change; a mention that maps to its own slug keeps its spelling, and all other text its bytes.
 */
export function rewriteMentions(text: string, slugByMention: ReadonlyMap<string, string>): string {
  let rewritten = "";
  let copied = 0;
  for (const { slug, start, end } of mentionSpans(text)) {
    const target = slugByMention.get(slug);
    if (target === undefined || target === slug) continue;
    rewritten += `${text.slice(copied, start)}@${target}`;
    copied = end;
  }
  return rewritten + text.slice(copied);
}

/**
 * Lays two texts side by side: the pairs of slugs at each mention, in reading order, or undefined
 * when anything but the mentioned slugs differs. The spelling of a mention (`@Plan`) is no difference.
 */
export function alignMentions(
  left: string,
  right: string,
): readonly (readonly [left: string, right: string])[] | undefined {
  const lefts = mentionSpans(left);
  const rights = mentionSpans(right);
  if (lefts.length !== rights.length) return undefined;
  const pairs: (readonly [string, string])[] = [];
  let leftEnd = 0;
  let rightEnd = 0;
  for (const [index, a] of lefts.entries()) {
    const b = rights[index];
    if (b === undefined || left.slice(leftEnd, a.start) !== right.slice(rightEnd, b.start)) {
      return undefined;
    }
    pairs.push([a.slug, b.slug]);
    leftEnd = a.end;
    rightEnd = b.end;
  }
  return left.slice(leftEnd) === right.slice(rightEnd) ? pairs : undefined;
}

/** Whether two texts are equal, the letter case of their mentions aside. */
export function sameProse(left: string, right: string): boolean {
  return alignMentions(left, right)?.every(([a, b]) => a === b) ?? false;
}

function candidates(text: string): readonly Candidate[] {
  const found: Candidate[] = [];
  for (let start = text.indexOf("@"); start !== -1; start = text.indexOf("@", start + 1)) {
    run.lastIndex = start + 1;
    const written = run.exec(text)?.[0];
    if (written === undefined) continue;
    const trimmed = written.replace(/-+$/, "");
    found.push({
      slug: trimmed.toLowerCase(),
      start,
      end: start + 1 + trimmed.length,
      ...refusalOf(characterBefore(text, start), characterAt(text, start + 1 + written.length)),
    });
  }
  return found;
}

function refusalOf(before: string, after: string): Pick<Candidate, "refusal" | "character"> {
  if (before === "\\") return { refusal: "escaped", character: before };
  if (asciiBefore.test(before) || alphabetLetter.test(before) || combiningMark.test(before)) {
    return { refusal: "before", character: before };
  }
  const joins =
    joinsAfter.test(after) ||
    combiningMark.test(after) ||
    alphabetLetter.test(after) ||
    startsAlphanumeric.test(after.normalize("NFKC"));
  return joins ? { refusal: "after", character: after } : { refusal: undefined, character: "" };
}

function characterAt(text: string, index: number): string {
  const point = text.codePointAt(index);
  return point === undefined ? "" : String.fromCodePoint(point);
}

function characterBefore(text: string, index: number): string {
  // A low surrogate belongs to the code point that starts one unit earlier.
  const pair = index >= 2 ? characterAt(text, index - 2) : "";
  return pair.length === 2 ? pair : text.slice(Math.max(0, index - 1), index);
}
