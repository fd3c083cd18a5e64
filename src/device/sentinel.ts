/**
 * Which message texts are more than text. Skill shares, message edits and device control ride the
 * ordinary message tag as JSON objects with exactly one key; this file recognises the key, and the
 * owner of each format judges what is under it.
 *
 * Nothing here acts: `dispatch.ts` gives a recognised payload its meaning.
 * Spec: docs/skills.md "Sentinels".
 */
import { decodeBundle, shareSentinel } from "./skills/bundle.ts";
import { members, parseStrictJson } from "./skills/strict-json.ts";

/** The keys that make a message text a sentinel. */
export const sentinelKeys = [shareSentinel, "pixie_message_op", "pixie_homebase_op"] as const;

/** One of the three kinds. */
export type SentinelKind = (typeof sentinelKeys)[number];

/** A recognised sentinel; `value` is whatever JSON stands under the key, not yet judged. */
export interface Sentinel {
  readonly kind: SentinelKind;
  readonly value: unknown;
}

/**
 * Cheap test before any parsing: false means that the text certainly is no sentinel. A key may be
 * written with JSON escapes, so a text with an escape has to be parsed, too.
 */
export function mayBeSentinel(text: string): boolean {
  return (
    /^[\t\n\r ]*\{/.test(text) &&
    (text.includes("\\u") || sentinelKeys.some((key) => text.includes(key)))
  );
}

/** The sentinel in a message text: an object with exactly one key, one of the three. Never throws. */
export function parseSentinel(text: string): Sentinel | undefined {
  if (!mayBeSentinel(text)) return undefined;
  const parsed = parseStrictJson(text);
  const object = parsed.ok ? members(parsed.value) : undefined;
  if (object?.size !== 1) return undefined;
  const kind = sentinelKeys.find((key) => object.has(key));
  return kind === undefined ? undefined : { kind, value: object.get(kind) };
}

/** The kind of a sentinel text, or undefined for an ordinary text. */
export function sentinelKind(text: string): SentinelKind | undefined {
  return parseSentinel(text)?.kind;
}

/**
 * Whether a text that a person typed would be taken for a sentinel by whoever receives it. Compose
 * refuses such a text: nobody forges a card or an edit by typing it.
 */
export function readsAsSentinel(text: string): boolean {
  const sentinel = parseSentinel(text);
  if (sentinel === undefined) return false;
  return sentinel.kind === shareSentinel
    ? decodeBundle(text).ok
    : members(sentinel.value) !== undefined;
}
