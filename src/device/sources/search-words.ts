/**
 * From what somebody typed to an FTS5 expression, and from a text to what the index takes. Every word
 * is quoted, so nothing typed is ever read as an operator (A41).
 *
 * The index splits at spaces and punctuation, which finds nothing in scripts that write without
 * spaces. Their letters are therefore indexed one by one and looked for as a phrase: any length is
 * found through the index, where trigrams need three letters and LIKE reads every line.
 *
 * Pure. Spec: docs/sources.md "Search".
 */

const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*/gu;

/** A text as the index takes it. */
export function indexedText(text: string): string {
  return wellFormed(text).replace(unspaced, " $& ");
}

/** Words of a query beyond this are not looked for. */
const maxWords = 16;

// Words of a question that say nothing about what is looked for.
const fillers: ReadonlySet<string> = new Set(
  `a an and any are as at be by can could did do does find for from give had has have how i in is it
  its look me my of on or our please say said search show tell that the their them there this to up
  was we were what what's when where which who whose why will with would you your`.split(/\s+/),
);

/** The words to look for, quoted. Empty when nothing typed can be found in any index. */
export function searchWords(query: string): readonly string[] {
  const typed = wellFormed(query)
    .split(/[\s\p{Cc}]+/u)
    // A word needs a letter or a digit: an empty phrase fits nothing or everything.
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const telling = typed.filter((word) => !fillers.has(bare(word)));
  const words = telling.length > 0 ? telling : typed;
  return [...new Set(words)].slice(0, maxWords).map(quoted);
}

/** An expression that every word must fit. */
export function allOf(words: readonly string[]): string {
  return words.join(" AND ");
}

/** An expression that one word must fit. */
export function anyOf(words: readonly string[]): string {
  return words.join(" OR ");
}

/** One spelling of each letter, and no half of a surrogate pair: the index stores UTF-8. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "\ufffd").normalize("NFC");
}

function bare(word: string): string {
  return word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}

function quoted(word: string): string {
  return `"${indexedText(word).trim().replaceAll('"', '""')}"`;
}
