/**
 * Foreign text on a terminal: everything that could move the cursor, reorder, hide or forge is drawn
 * as its code point instead of being sent.
 *
 * It changes what is shown, never what is stored or hashed. Spec: docs/skills.md "Review".
 */

// Controls, format characters (bidi, zero-width, tags), separators of lines, private use, lone
// surrogates, and variation selectors: nothing of it has a shape of its own.
const hidden =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}\u{34f}\u{115f}\u{1160}\u{3164}\u{ffa0}]/gu;

/** One line of foreign text, safe to print. */
export function visibleLine(text: string): string {
  return text.replace(hidden, draw);
}

/** Foreign text of several lines: line ends and tabs stay. */
export function visibleText(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(hidden, (found) => (found === "\n" || found === "\t" ? found : draw(found)));
}

/** JSON that means the same and drives no terminal. */
export function visibleJson(json: string): string {
  return json.replace(hidden, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function draw(found: string): string {
  const codePoint = found.codePointAt(0) ?? 0;
  return `⟨U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
