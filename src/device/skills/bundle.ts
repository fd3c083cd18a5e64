/**
 * The wire format of a shared skill: one JSON object under the key `pixie_skill_share`, holding the
 * skill and the skills it reaches. Everything a stranger can send ends here: what decodes is whole,
 * within every cap and safe to show; anything else is an ordinary chat message.
 *
 * It knows nothing of the receiver's skills; `merge.ts` does.
 * Spec: docs/skills.md "Sharing".
 */
import { maxMessageBytes } from "../../shared/limits.ts";
import { utf8 } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { contentHash } from "./item-hash.ts";
import { parseMentions } from "./mentions.ts";
import { fieldProblems, fieldProblemText, type SkillItem } from "./skill.ts";
import { isWireId } from "./slug.ts";
import { members, parseStrictJson } from "./strict-json.ts";

/** The single key that tells a bundle from a text. */
export const shareSentinel = "pixie_skill_share";

/** Items in a bundle, the shared skill included. */
export const maxBundleItems = 32;

/** A skill and every skill that it reaches. */
export interface Bundle {
  readonly skill: SkillItem;
  readonly closure: readonly SkillItem[];
}

/** Why a text is no bundle. `reason` is for logs and tests; a reader just sees an ordinary message. */
export interface MalformedBundle {
  readonly type: "malformed-bundle";
  readonly reason: string;
}

const itemFields = ["id", "name", "shortDescription", "detailedBody"] as const;

/** The items in the order of the bundle: the shared skill first. */
export function itemsOf(bundle: Bundle): readonly SkillItem[] {
  return [bundle.skill, ...bundle.closure];
}

/** The items as a depth-first walk from the shared skill meets them; unreachable ones are left out. */
export function depthFirstItems(bundle: Bundle): readonly SkillItem[] {
  const itemById = new Map(itemsOf(bundle).map((item) => [item.id, item]));
  const found = new Map<string, SkillItem>();
  const pending: SkillItem[] = [bundle.skill];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (found.has(item.id)) continue;
    found.set(item.id, item);
    for (const slug of parseMentions(item.detailedBody).toReversed()) {
      const next = itemById.get(slug);
      if (next !== undefined) pending.push(next);
    }
  }
  return [...found.values()];
}

/** The message text of a bundle: fixed key order, closure depth first. */
export function encodeBundle(bundle: Bundle): string {
  const [skill, ...closure] = depthFirstItems(bundle).map(wireItem);
  return JSON.stringify({ [shareSentinel]: { skill, closure } });
}

/** Reads a bundle from a message. Never throws. Errors: anything that `encodeBundle` cannot produce. */
export function decodeBundle(text: string): Result<Bundle, MalformedBundle> {
  if (utf8(text).length > maxMessageBytes) return malformed(`over ${maxMessageBytes} bytes`);
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return malformed(parsed.error.type);
  const outer = members(parsed.value);
  const inner = members(outer?.get(shareSentinel));
  if (outer?.size !== 1 || inner === undefined) {
    return malformed(`expected one object under ${shareSentinel}`);
  }
  const skill = parseItem(inner.get("skill"));
  const closure = parseItems(inner.get("closure"));
  if (inner.size !== 2 || skill === undefined || closure === undefined) {
    return malformed("expected exactly skill and closure, items of exactly four strings");
  }
  const bundle = { skill, closure };
  const problem = bundleProblem(bundle);
  return problem === undefined ? ok(bundle) : malformed(problem);
}

/** What keeps typed items from being a bundle, apart from the size of the whole; undefined if nothing. */
function bundleProblem(bundle: Bundle): string | undefined {
  const items = itemsOf(bundle);
  if (items.length > maxBundleItems) return `more than ${maxBundleItems} items`;
  for (const item of items) {
    if (!isWireId(item.id)) return "an id is not a slug";
    const [problem] = fieldProblems(item);
    if (problem !== undefined) return `@${item.id}: ${fieldProblemText(problem)}`;
  }
  // The walk meets every id once, so a repeated id comes out short, too.
  if (depthFirstItems(bundle).length < items.length) {
    return "an id is repeated, or cannot be reached from the shared skill";
  }
  return undefined;
}

/** Name of a bundle's exact content; the order of its closure does not count. */
export function bundleHash(bundle: Bundle): string {
  return contentHash(depthFirstItems(bundle).map((item) => itemFields.map((field) => item[field])));
}

/** What a conversation shows instead of the JSON. */
export interface BundleCard {
  readonly name: string;
  readonly shortDescription: string;
  /** "+ 1 linked skill", "+ 2 linked skills", or empty when the skill travels alone. */
  readonly linked: string;
}

/** The card of a bundle. */
export function cardOf(bundle: Bundle): BundleCard {
  const count = bundle.closure.length;
  const linked = count === 0 ? "" : `+ ${count} linked skill${count === 1 ? "" : "s"}`;
  return { name: bundle.skill.name, shortDescription: bundle.skill.shortDescription, linked };
}

/** Exactly the authored fields of a skill, in wire order: switches stay at home. */
export function wireItem(item: SkillItem): SkillItem {
  const { id, name, shortDescription, detailedBody } = item;
  return { id, name, shortDescription, detailedBody };
}

function parseItems(value: unknown): readonly SkillItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map(parseItem);
  return items.every((item) => item !== undefined) ? items : undefined;
}

function parseItem(value: unknown): SkillItem | undefined {
  const fields = members(value);
  if (fields?.size !== itemFields.length) return undefined;
  const [id, name, shortDescription, detailedBody] = itemFields.map((field) => fields.get(field));
  return typeof id === "string" &&
    typeof name === "string" &&
    typeof shortDescription === "string" &&
    typeof detailedBody === "string"
    ? { id, name, shortDescription, detailedBody }
    : undefined;
}

function malformed(reason: string): Result<never, MalformedBundle> {
  return err({ type: "malformed-bundle", reason });
}
