/**
 * The prompt of the executing half of a planned turn, and a skill's procedure as `Skill` answers it: the
 * bodies that are reached, and how their tools are called. The planning half sees no body.
 *
 * Spec: docs/agent.md "One turn".
 */
import type { Expansion } from "../skills/expand.ts";

/** The text for one binding. */
export function executionPrompt(expansion: Expansion): string {
  return [
    "Answer the question by following the procedures below. Call one tool at a time through CallTool {tool, args}; only the listed tools exist. Report what the results say and nothing else.",
    procedureText(expansion),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Bodies, tools, and what is missing. */
export function procedureText({ skills, tools, disabled, unknown }: Expansion): string {
  return [
    ...skills.map((skill) => `# @${skill.id}\n${skill.detailedBody}`),
    tools.length === 0
      ? ""
      : ["# Tools", ...tools.map((tool) => `- ${tool.signature}: ${tool.description}`)].join("\n"),
    unavailableText([...disabled, ...unknown]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** What a procedure mentions and this device lacks; empty when nothing is missing. */
export function unavailableText(slugs: readonly string[]): string {
  if (slugs.length === 0) return "";
  const names = slugs.map((slug) => `@${slug}`).join(", ");
  return `References not available here: ${names}. Those steps are skipped.`;
}
