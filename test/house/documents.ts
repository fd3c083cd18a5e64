/**
 * Reading documents and citations of them: headings, links, code, and what a source comment cites.
 * Pure functions over text; what must hold of it is docs.test.ts.
 */

/** A document that a comment cites, with the sections that it names. */
export interface Citation {
  readonly document: string;
  readonly sections: readonly string[];
}

/** Citations in a source text: `docs/x.md "A" (a note), "B" and "C"`, over line ends of a comment. */
export function citationsIn(source: string): readonly Citation[] {
  const text = source.replace(/\n[ \t]*(?:\*|\/\/|#|--)?[ \t]*/g, " ");
  return [...text.matchAll(/\bdocs\/[a-z0-9/-]+\.md/g)].map((found) => {
    const sections: string[] = [];
    const next = /(?:\s*\([^)]*\))?(?:,| and)?\s*"([^"]+)"/y;
    next.lastIndex = found.index + found[0].length;
    for (let section = next.exec(text); section !== null; section = next.exec(text)) {
      sections.push(section[1] ?? "");
    }
    return { document: found[0], sections };
  });
}

/** The headings of a document, in order. */
export function headingsOf(markdown: string): readonly string[] {
  return [...withoutBlocks(markdown).matchAll(/^#{1,6} (.+)$/gm)].map((found) => found[1] ?? "");
}

/** The anchor under which a heading is reached. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Targets of the links of a document that stay inside the repository. */
export function linksOf(markdown: string): readonly string[] {
  return [...withoutBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((found) => found[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Everything that is set as code: spans, and the lines of blocks. */
export function codeOf(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```[a-z]*\n(.*?)^```/gms)].map((found) => found[1] ?? "");
  const spans = [...withoutBlocks(markdown).matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? "");
  return [...spans.map((span) => span.replaceAll("\n", " ")), ...blocks.join("").split("\n")];
}

/** A command line of `pixie`: its words up to the first flag or argument, and its flags. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** What a piece of code runs of `pixie`; undefined when it runs something else. */
export function pixieCommand(code: string): CommandLine | undefined {
  const line = code.replace(/\s#.*$/, "");
  const found = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?pixie((?: [a-z-]+)*)(.*)$/.exec(line);
  if (found === null) return undefined;
  const words = (found[1] ?? "").split(" ").filter((word) => word !== "" && !word.startsWith("-"));
  return { words, flags: line.match(/(?<= )--[a-z-]+/g) ?? [] };
}

function withoutBlocks(markdown: string): string {
  return markdown.replace(/^```.*?^```/gms, "");
}
