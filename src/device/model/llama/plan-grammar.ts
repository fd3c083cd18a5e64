/**
 * What a plan may be: one sentence in which no other handle than the admitted ones can appear. Its
 * purpose is free text. What is known about the handles beforehand decides with the model.
 *
 * Spec: docs/agent.md "The engine".
 */
import type { Forced, Guide } from "./lane.ts";

/** A handle that a plan may name, with how well it fits as a router knows. */
export interface LikelyHandle {
  readonly handle: string;
  /** Natural logarithm of odds; compares within one plan only. */
  readonly score: number;
}

/** Handles that one plan may name. */
const maxHandles = 3;

/** What the grammar can say when nothing fits. */
export const directPlan = "I can answer that directly.";

const opening = "I'll use @";

/**
 * How much a router's score counts beside a small model's likelihood. A small model is surer of itself
 * than it is right: of 76 doubtful requests set aside, Qwen2.5-Coder-1.5B alone chooses 39 rightly, the
 * router alone 48, both together 50 at any weight between 2 and 5.
 */
const scoreWeight = 3;

/** Every word of a leaning is favoured at least so much: other ways to cut it into tokens are not. */
const leastFavour = 6;

/** The guide of one reply over these handles. `none`: whether the plan may name none of them. */
export function planGuide(handles: readonly LikelyHandle[], none: boolean): Guide {
  const direct = quoted(directPlan);
  if (handles.length === 0) return { grammar: `root ::= ${direct}` };
  const rules = `handle ::= ${handles.map(({ handle }) => quoted(handle)).join(" | ")}`;
  // A token may reach into the purpose: hence the optional beginning of one.
  const use = `${quoted(opening)} handle (" to" (" " [a-zA-Z] ${purposeLetter}{0,40})? | " and")`;
  const [only, another] = handles;
  // What has no alternative is not generated.
  const known = only !== undefined && another === undefined && !none;
  let rest: Forced | undefined;
  return {
    grammar: [`root ::= ${use}${none ? ` | ${direct}` : ""}`, rules].join("\n"),
    resume: (text) => {
      if (rest !== undefined) return undefined;
      rest =
        known && text === ""
          ? { text: `${opening}${only.handle} to`, grammar: purposeGrammar }
          : restOf(text, rules);
      return rest;
    },
    ...leaningTo(handles),
  };
}

/** Nothing, where nothing is known of the handles. */
function leaningTo(handles: readonly LikelyHandle[]): Pick<Guide, "leaning"> {
  const scores = handles.map(({ score }) => score);
  const lowest = Math.min(...scores);
  if (lowest === Math.max(...scores)) return {};
  const words = handles.map(({ handle, score }) => ({
    word: handle,
    favour: leastFavour + scoreWeight * (score - lowest),
  }));
  return { leaning: { before: opening, after: " to", words } };
}

// A purpose that could hold "@" could name what was not admitted.
const purposeLetter = `[^@.\\x00-\\x1f]`;
const purpose = `" " [a-zA-Z] ${purposeLetter}{2,79} "."`;
const purposeGrammar = `root ::= ${purpose}`;
const begunPurposeGrammar = `root ::= ${purposeLetter}{0,79} "."`;

/** How the sentence goes on once its first handle is said. */
function restOf(text: string, handleRule: string): Forced | undefined {
  const [, joint, begun] = /^I'll use @\S+ (to|and)(.*)$/.exec(text) ?? [];
  if (joint === undefined) return undefined;
  if (joint === "to") {
    return { text: "", grammar: begun === "" ? purposeGrammar : begunPurposeGrammar };
  }
  const others = `" @" handle (" and @" handle){0,${maxHandles - 2}} " to"`;
  return { text: "", grammar: `root ::= ${others} ${purpose}\n${handleRule}` };
}

/** A literal of the grammar. */
export function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
