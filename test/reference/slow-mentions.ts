/**
 * A slow reading of the mention rules, one code point at a time and in the order in which the rules
 * are written. It shares no code with the product; property tests keep the two equal.
 */

export interface SlowMention {
  readonly slug: string;
  readonly start: number;
  readonly end: number;
}

const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const lower = "abcdefghijklmnopqrstuvwxyz";
const alphanumeric = new Set(Array.from(`${upper}${lower}0123456789`));

/** Mentions of a text, repeated ones included. */
export function slowMentions(text: string): readonly SlowMention[] {
  const points = Array.from(text);
  const found: SlowMention[] = [];
  let offset = 0;
  for (let i = 0; i < points.length; i++) {
    if (points[i] === "@" && alphanumeric.has(points[i + 1] ?? "")) {
      let stop = i + 1;
      while (alphanumeric.has(points[stop] ?? "") || points[stop] === "-") stop++;
      let trimmed = stop;
      while (points[trimmed - 1] === "-") trimmed--;
      if (!blocksBefore(points[i - 1]) && !blocksAfter(points[stop])) {
        const slug = points
          .slice(i + 1, trimmed)
          .map(toLower)
          .join("");
        found.push({ slug, start: offset, end: offset + trimmed - i });
      }
    }
    offset += (points[i] ?? "").length;
  }
  return found;
}

/** Replaces whole slugs by splicing from the end of the text. */
export function slowRewrite(text: string, map: ReadonlyMap<string, string>): string {
  let result = text;
  for (const { slug, start, end } of slowMentions(text).toReversed()) {
    const to = map.get(slug);
    if (to !== undefined && to !== slug) {
      result = `${result.slice(0, start)}@${to}${result.slice(end)}`;
    }
  }
  return result;
}

function toLower(point: string): string {
  const index = upper.indexOf(point);
  return index < 0 ? point : (lower[index] ?? point);
}

function blocksBefore(point: string | undefined): boolean {
  if (point === undefined) return false;
  if (alphanumeric.has(point) || ["_", ".", "/", "-", "@", "\\"].includes(point)) return true;
  return isMark(point) || isAlphabetLetter(point);
}

function blocksAfter(point: string | undefined): boolean {
  if (point === undefined) return false;
  if (point === "_" || point === "\u2010" || point === "\u2011") return true;
  if (/\p{DI}/u.test(point) || isMark(point) || isAlphabetLetter(point)) return true;
  return alphanumeric.has(Array.from(point.normalize("NFKC"))[0] ?? "");
}

function isMark(point: string): boolean {
  return /\p{Mn}|\p{Mc}|\p{Me}/u.test(point);
}

function isAlphabetLetter(point: string): boolean {
  if (!/\p{Lu}|\p{Ll}|\p{Lt}|\p{Lm}|\p{Lo}/u.test(point)) return false;
  return [/\p{sc=Latn}/u, /\p{sc=Cyrl}/u, /\p{sc=Grek}/u, /\p{sc=Armn}/u].some((script) =>
    script.test(point),
  );
}
