/**
 * Slow walks over the reference graph, written as the plain recursions that the articles describe.
 * Property tests keep the product's iterative walks equal to them.
 */
import { slowMentions } from "./slow-mentions.ts";

interface Node {
  readonly id: string;
  readonly detailedBody: string;
  readonly enabled: boolean;
}

/** Ids of the skill and its transitive closure over skills, depth first in first-appearance order. */
export function slowClosure(skills: readonly Node[], root: string): readonly string[] {
  const order: string[] = [];
  visit(root);
  return order;

  function visit(id: string): void {
    const skill = skills.find((candidate) => candidate.id === id);
    if (skill === undefined || order.includes(id)) return;
    order.push(id);
    for (const { slug } of slowMentions(skill.detailedBody)) visit(slug);
  }
}

/** Tool slugs that handles expand to, and the enabled skills on the way, in first-appearance order. */
export function slowExpansion(
  skills: readonly Node[],
  tools: readonly string[],
  handles: readonly string[],
): { readonly tools: readonly string[]; readonly skills: readonly string[] } {
  const bound: string[] = [];
  const visited: string[] = [];
  for (const handle of handles) visit(handle);
  return { tools: bound, skills: visited };

  function visit(slug: string): void {
    if (tools.includes(slug)) {
      if (!bound.includes(slug)) bound.push(slug);
      return;
    }
    const skill = skills.find((candidate) => candidate.id === slug);
    if (skill === undefined || !skill.enabled || visited.includes(slug)) return;
    visited.push(slug);
    for (const mention of slowMentions(skill.detailedBody)) visit(mention.slug);
  }
}
