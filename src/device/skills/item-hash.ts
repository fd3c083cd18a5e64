/**
 * Names for exact content: one skill, one bundle, or anything else that must not change between two
 * moments. Hashes are BLAKE2b-256 over JSON arrays of strings, whose encoding is unambiguous.
 */
import { toBase64Url, utf8 } from "../../shared/bytes.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";
import type { SkillItem } from "./skill.ts";

/** What `contentHash` takes: strings and lists, whose order counts. */
export type Hashable = string | readonly Hashable[];

/** Hash of a skill's identity: id, name and body. The summary is no part of it. */
export function itemHash(item: SkillItem): string {
  return contentHash([item.id, item.name, item.detailedBody]);
}

/** BLAKE2b-256 of any nesting of strings, as base64url. */
export function contentHash(content: Hashable): string {
  return toBase64Url(blake2b(32, utf8(JSON.stringify(content))));
}
