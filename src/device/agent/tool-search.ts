/**
 * Which on-demand tools a query means. A name in full means that tool alone; else a part of a name
 * counts more than words of a description, and equal ones keep their order.
 *
 * Pure: what is found becomes callable in resident.ts. Spec: docs/agent.md "On-demand tools".
 */

/** What a search looks at. */
export interface Searched {
  readonly toolName: string;
  readonly description: string;
}

/** Tools that one search activates at most. */
const maxFound = 4;
/** Names that a miss lists at most. */
const maxNamed = 24;

/** The best tools for a query, at most four; empty when nothing of it fits. */
export function searchTools<Tool extends Searched>(
  query: string,
  tools: readonly Tool[],
): readonly Tool[] {
  const wanted = nameKey(query);
  const exact = tools.filter(({ toolName }) => nameKey(toolName) === wanted);
  if (exact.length > 0) return exact.slice(0, maxFound);
  const words = wordsOf(query);
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, wanted, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, maxFound)
    .map(({ tool }) => tool);
}

/** What a miss answers: the names that there are, as far as they fit. */
export function missText(query: string, tools: readonly Searched[]): string {
  const names = tools.slice(0, maxNamed).map(({ toolName }) => toolName);
  const more = tools.length > names.length ? ` [${names.length} of ${tools.length}]` : "";
  return `nothing fits ${JSON.stringify(query)}; there are: ${names.join(", ")}${more}`;
}

// All words of a query in a description stay below one in a name.
const nameScore = 1_000;

function scoreOf(tool: Searched, wanted: string, words: readonly string[]): number {
  const name = nameKey(tool.toolName);
  const told = new Set(wordsOf(tool.description));
  const inName = words.filter((word) => name.includes(word)).length;
  const described = words.filter((word) => told.has(word)).length;
  const whole = wanted !== "" && name.includes(wanted);
  return (whole ? 2 * inName + 1 : inName) * nameScore + Math.min(described, nameScore - 1);
}

function nameKey(text: string): string {
  return wordsOf(text).join("-");
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
