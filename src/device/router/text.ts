/**
 * Text as routers see it: words, rough English stems, and the hashed features of the static router.
 * Training and running share this file, so they cannot hash differently.
 *
 * Spec: docs/agent.md "Routers".
 */

/** Words of a request or a menu line that are looked at; the rest of a longer text is not. */
const maxWords = 64;

const wordPattern = /[\p{L}\p{N}]+/gu;

/** Lower-case words in reading order, with diacritics removed. */
export function wordsOf(text: string): readonly string[] {
  const plain = text.normalize("NFKD").replace(/[\p{M}'’]/gu, "");
  return (plain.toLowerCase().match(wordPattern) ?? []).slice(0, maxWords);
}

/** Words that carry meaning. */
export function contentWords(text: string): readonly string[] {
  return wordsOf(text).filter((word) => !functionWords.has(word));
}

/** The same as stems: `planned`, `plans` and `planning` are one. */
export function stemsOf(text: string): readonly string[] {
  return contentWords(text).map(stem);
}

/**
 * Rows of the router's table that a text adds up: its words, the 3- to 5-letter pieces of each word
 * (so that a typo or an unknown form still meets its kin), and pairs of neighbours.
 */
export function featureRows(text: string, rows: number): readonly number[] {
  const words = wordsOf(text);
  const features: number[] = [];
  for (const [index, word] of words.entries()) {
    features.push(hash(`w:${word}`) % rows);
    const marked = `<${word}>`;
    for (let length = 3; length <= 5; length += 1) {
      for (let at = 0; at + length <= marked.length && marked.length > length; at += 1) {
        features.push(hash(`c:${marked.slice(at, at + length)}`) % rows);
      }
    }
    const next = words[index + 1];
    if (next !== undefined) features.push(hash(`b:${word} ${next}`) % rows);
  }
  return features;
}

/** The menu line as the router reads it: the handle's words belong to it. */
export function lineText(handle: string, line: string): string {
  return `${handle.replaceAll("-", " ")}: ${line}`;
}

/** FNV-1a over UTF-16 units: fast, and the same everywhere. */
function hash(text: string): number {
  let state = 2_166_136_261;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 16_777_619) >>> 0;
  }
  return state;
}

function stem(word: string): string {
  if (word.length <= 4) return word.replace(/(?<=..)s$/, "");
  const bare = word.replace(/(?:ations?|ings?|ers?|ed|es|s|ly)$/, "");
  const base = bare.length < 3 ? word : bare;
  return base.replace(/(.)\1$/, "$1").replace(/[ey]$/, "");
}

const functionWords: ReadonlySet<string> = new Set(
  (
    "a about again all also am an and any anything are as at be been before but by can could did do does " +
    "dont for from get give had has have he her here him his how i if im in into is isnt it its ive just let " +
    "lets like may me might more my need no not now of off on or our out please she should so some " +
    "something such tell than that thats the their them then there these they this those to too under up us " +
    "use want was we were what whats when where which who whom whose why will with would you your skill user owner"
  ).split(" "),
);
