/**
 * The port of whatever decides which handle of the menu a question wants. A router reads the menu's
 * lines, so a person's own skills are picked without any training on them.
 *
 * It chooses among handles and nothing else: it neither sees skill bodies nor runs anything.
 * Spec: docs/agent.md "Routers".
 */

/** One line of the planner's menu. */
export interface MenuLine {
  readonly handle: string;
  readonly line: string;
  /** Tools of the same menu that a skill's procedure mentions: they come with it. */
  readonly mentions?: readonly string[];
}

/** A handle with how well it fits; scores compare within one ranking only. */
export interface ScoredHandle {
  readonly handle: string;
  readonly score: number;
}

/**
 * What a router makes of its scores: one handle, "ask which of these", or that nothing fits. `none`
 * is an answer that was learned, not what is left when scores are low.
 */
export type Verdict =
  | { readonly type: "pick"; readonly handle: string }
  | { readonly type: "unsure"; readonly handles: readonly string[] }
  | { readonly type: "none" };

/** A judged menu: every handle, best first, and the verdict. */
export interface Ranking {
  readonly type: "ranked";
  readonly scored: readonly ScoredHandle[];
  /** How probable it is that nothing fits, of a router that learned to tell. */
  readonly none?: number;
  readonly verdict: Verdict;
}

/** A router that reads meaning needs a model, and a model can fail. */
export interface RouterFailure {
  readonly type: "failed";
  readonly reason: string;
}

/**
 * Ranks a menu for a question: the same question and menu always rank alike. Trouble is an answer,
 * never an exception.
 */
export interface Router {
  readonly name: string;
  readonly rank: (
    question: string,
    menu: readonly MenuLine[],
    signal: AbortSignal,
  ) => Promise<Ranking | RouterFailure>;
}

/** How many handles an unsure router offers. */
export const maxChoices = 3;

/** Handles by falling score; equal ones keep the menu's order. */
export function byScore(scored: readonly ScoredHandle[]): readonly ScoredHandle[] {
  return scored.toSorted((a, b) => b.score - a.score);
}
