/**
 * What the editor's @-picker offers for the letters typed after an `@`: skills and tools whose slug or
 * display name contains them. It only suggests; what a text mentions is read in `mentions.ts`.
 *
 * Spec: docs/skills.md "Names".
 */
import type { Reference, Registry } from "./registry.ts";

/** One entry of the picker. */
export interface Suggestion {
  readonly slug: string;
  readonly name: string;
  readonly kind: Reference["kind"];
}

/**
 * Suggestions for what has been typed, those that start with it first, else in stored order. A skill
 * never suggests itself, and nothing is suggested that expands to nothing.
 */
export function suggestMentions(
  registry: Registry,
  typed: string,
  editedId: string | undefined,
): readonly Suggestion[] {
  const wanted = typed.toLowerCase();
  const all: readonly Suggestion[] = [
    ...registry.skills
      .filter((skill) => skill.enabled && skill.id !== editedId)
      .map(({ id, name }) => ({ slug: id, name, kind: "skill" }) as const),
    ...registry.tools.map(({ slug, name }) => ({ slug, name, kind: "tool" }) as const),
  ];
  const starts = (suggestion: Suggestion): boolean =>
    suggestion.slug.startsWith(wanted) || suggestion.name.toLowerCase().startsWith(wanted);
  const contains = ({ slug, name }: Suggestion): boolean =>
    slug.includes(wanted) || name.toLowerCase().includes(wanted);
  return [
    ...all.filter(starts),
    ...all.filter((suggestion) => !starts(suggestion) && contains(suggestion)),
  ];
}
