/**
 * Whether the Alignment document's menu leaves room in a brain's context: from a quarter of it the owner
 * is told, above half the turn is refused with what to take off. Nothing is left out silently.
 *
 * A brain without a bound has no budget. Spec: docs/agent.md "The system prompt".
 */
import { type Menu, menuOf } from "../skills/registry.ts";
import { codePoints } from "../skills/skill.ts";
import { estimatedTokens, menuText } from "./alignment.ts";
import { residentMenuText } from "./resident-prompt.ts";
import type { Ending, Turn } from "./turn-parts.ts";

/** Shares of a context from which the menu is warned about, and refused. */
const warnShare = 0.25;
const refuseShare = 0.5;

/** A verdict, and what to drop first. */
export interface MenuBudget {
  readonly state: "fits" | "warn" | "refuse";
  /** What is wrong and what to do; empty when it fits. */
  readonly text: string;
}

/** Judges a menu and the text that shows it. `countTokens`: exact, where there is a tokenizer. */
export function menuBudget(
  menu: Menu,
  shown: string,
  contextTokens: number,
  countTokens?: (text: string) => number,
): MenuBudget {
  const tokens = (countTokens ?? estimatedTokens)(shown);
  const share = tokens / contextTokens;
  if (share <= warnShare) return { state: "fits", text: "" };
  const longest = menu.skills
    .toSorted((a, b) => codePoints(b.shortDescription) - codePoints(a.shortDescription))
    .slice(0, 3)
    .map(({ id }) => `@${id}`);
  const takes = `the menu takes ${countTokens === undefined ? "~" : ""}${tokens} of ${contextTokens} tokens`;
  const drop = `take some off, e.g. ${longest.join(", ")}`;
  return share > refuseShare
    ? { state: "refuse", text: `${takes}, more than half: ${drop}` }
    : { state: "warn", text: `${takes}, more than a quarter: ${drop}` };
}

/** Judges the menu of a turn. Ends the turn when it is too large. */
export function judgeMenu({ parts, request, emit }: Turn): Ending | undefined {
  const { model } = parts;
  if (model.contextTokens === undefined) return undefined;
  const menu = menuOf(request.registry);
  const onDemand = request.onDemand.map(({ declaration }) => declaration);
  const shown = request.harness === "resident" ? residentMenuText(menu, onDemand) : menuText(menu);
  const { state, text } = menuBudget(menu, shown, model.contextTokens, model.countTokens);
  if (state === "warn") emit({ type: "notice", text });
  return state === "refuse"
    ? { reason: "menu-too-large", detail: `${text}. Nothing was called.` }
    : undefined;
}
