/**
 * Results of tools as text: entries line by line, cut with a visible `[N of M]`, never silently.
 */
import type { ToolResult } from "./tool.ts";

/** Text of one result. Units: characters. A small model's context holds several of these. */
const maxTextLength = 6_000;
/** One entry in it: what is longer ends with an ellipsis. */
const maxEntryLength = 1_000;

/** What is said before entries of which none has every word. */
const nearLine = "none has all of these words; the nearest:";

/** A result of entries. `total`: how many fit in all, where more were found than are handed over. */
export function entriesResult(
  entries: readonly string[],
  options: {
    readonly untrusted: boolean;
    readonly total?: number;
    /** The total is a bound at which counting stopped. */
    readonly atLeast?: boolean;
    /** No entry has every word that was looked for. */
    readonly near?: boolean;
    /** Lines that follow, whatever was cut. */
    readonly notes?: readonly string[];
  },
): ToolResult {
  const { untrusted, total = entries.length, atLeast = false, near = false, notes = [] } = options;
  let length = 0;
  const shown = entries
    .map((entry) => (entry.length > maxEntryLength ? `${entry.slice(0, maxEntryLength)}…` : entry))
    .filter((entry) => (length += entry.length + 1) <= maxTextLength);
  const cut =
    shown.length < total ? [`[${shown.length} of ${total}${atLeast ? " or more" : ""}]`] : [];
  const text = [...(near ? [nearLine] : []), ...shown, ...cut, ...notes].join("\n");
  return {
    ok: true,
    text,
    shown: shown.length,
    total,
    entries: shown,
    untrusted,
    ...(near ? { near } : {}),
  };
}
