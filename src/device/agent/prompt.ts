/**
 * The prompt of the executing half of a turn: the bodies of the skills that a plan reaches, and how
 * their tools are called. The planning half reads the Alignment document instead and sees no body.
 *
 * Spec: docs/agent.md "One turn".
 */
import type { Expansion } from "../skills/expand.ts";

/** The text for one binding. */
export function executionPrompt({ skills, tools, disabled, unknown }: Expansion): string {
  const parts = [
    "Answer the question by following the procedures below. Call one tool at a time through CallTool {tool, args}; only the listed tools exist. Report what the results say and nothing else.",
    ...skills.map((skill) => `# @${skill.id}\n${skill.detailedBody}`),
    tools.length === 0
      ? ""
      : ["# Tools", ...tools.map((tool) => `- ${tool.signature}: ${tool.description}`)].join("\n"),
    unavailableText([...disabled, ...unknown]),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** What a procedure mentions and this device lacks; empty when nothing is missing. */
export function unavailableText(slugs: readonly string[]): string {
  if (slugs.length === 0) return "";
  const names = slugs.map((slug) => `@${slug}`).join(", ");
  return `References not available here: ${names}. Those steps are skipped.`;
}
