/**
 * Whether a message text is a shared skill, and the card that a conversation shows instead of it.
 * Foreign input: a text that does not decode whole is an ordinary text.
 *
 * Spec: docs/skills.md "Card".
 */
import type { SkillCard } from "./device.ts";
import { cardOf, decodeBundle } from "./skills/bundle.ts";

/** The card of a text; `undefined` for an ordinary one. The sender's own copy is inert. */
export function skillCard(text: string, fromMe: boolean): SkillCard | undefined {
  const bundle = decodeBundle(text);
  if (!bundle.ok) return undefined;
  return { skillId: bundle.value.skill.id, ...cardOf(bundle.value), inert: fromMe };
}
