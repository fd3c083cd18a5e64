/**
 * What each part of the Alignment document costs, so that an owner sees what to shorten. Parts are priced
 * one by one, so their sum may differ from the whole by a few tokens.
 *
 * Spec: docs/agent.md "The system prompt".
 */
import type { Menu } from "../skills/registry.ts";
import { type Alignment, blurbs, defaultInstructions, skillLines } from "./alignment.ts";

/** One part and its price. Units: tokens. */
export interface PricedPart {
  readonly part: string;
  readonly tokens: number;
}

/** Prices the owner's part and every line of the menu; what is left is the harness's own text. */
export function pricedParts(
  { instructions, blurbs: chosen }: Alignment,
  menu: Menu,
  {
    document,
    countTokens,
  }: {
    readonly document: string;
    readonly countTokens: (text: string) => number;
  },
): readonly PricedPart[] {
  const lines = skillLines(menu.skills);
  const parts = [
    { part: "instructions", tokens: countTokens(instructions ?? defaultInstructions) },
    ...blurbs
      .filter(({ id }) => chosen.includes(id))
      .map(({ id, text }) => ({ part: `blurb ${id}`, tokens: countTokens(text) })),
    ...menu.skills.map(({ id }, at) => ({
      part: `@${id}`,
      tokens: countTokens(`${lines[at] ?? ""}\n`),
    })),
    ...menu.tools.map(({ slug, description }) => ({
      part: `@${slug}`,
      tokens: countTokens(`- @${slug}: ${description}\n`),
    })),
  ];
  const told = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  return [
    ...parts,
    { part: "headings and the rest", tokens: Math.max(0, countTokens(document) - told) },
  ];
}
