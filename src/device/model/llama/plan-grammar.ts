/**
 * The grammar of a plan: one sentence in which no other handle than the admitted ones can appear. Its
 * purpose is free text.
 *
 * Spec: docs/agent.md "The engine".
 */

/** Handles that one plan may name. */
const maxHandles = 3;

/** What the grammar can say when nothing fits. */
export const directPlan = "I can answer that directly.";

/** The grammar over these handles. `none`: whether the plan may name none of them. */
export function planGrammar(handles: readonly string[], none: boolean): string {
  const direct = quoted(directPlan);
  if (handles.length === 0) return `root ::= ${direct}`;
  return [
    `root ::= use${none ? ` | ${direct}` : ""}`,
    `use ::= "I'll use @" handle (" and @" handle){0,${maxHandles - 1}} " to " purpose "."`,
    `handle ::= ${handles.map(quoted).join(" | ")}`,
    // A purpose that could hold "@" could name what was not admitted.
    `purpose ::= [a-zA-Z] [^@.\\x00-\\x1f]{2,79}`,
  ].join("\n");
}

/** A literal of the grammar. */
export function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
