/**
 * The Alignment document of the resident harness: the owner's part first, then the core tools, the skills
 * that can be loaded, and a short list of what can be searched for. The planned one is in alignment.ts;
 * both write a skill's line alike.
 *
 * Spec: docs/agent.md "The resident harness".
 */
import type { Menu } from "../skills/registry.ts";
import { type Alignment, ownersPart, skillLines } from "./alignment.ts";
import type { CallDeclaration } from "./callable.ts";
import { coreToolLines, coreToolNames } from "./core-tools.ts";

/** Lines of on-demand tools. */
const maxLines = 64;
/** One of them, whole. Units: code points. */
const maxLine = 120;

/** The document. What changes from turn to turn is not in it. */
export function residentPrompt(
  alignment: Alignment,
  menu: Menu,
  onDemand: readonly CallDeclaration[],
): string {
  return [ownersPart(alignment), residentMenuText(menu, onDemand)].join("\n\n");
}

/** What is on offer: the document without the owner's part. */
export function residentMenuText(
  { skills, tools }: Menu,
  onDemand: readonly CallDeclaration[],
): string {
  const core = coreToolNames({ skills: skills.length, onDemand: onDemand.length });
  const sections = [
    section(
      "# Core tools",
      core.map((name) => `- ${coreToolLines[name]}`),
    ),
    section(
      "# Skills",
      skillLines(skills),
      "When one of these matches, load it with Skill before anything else, and follow it.",
    ),
    section(
      "# Tools",
      tools.map((tool) => `- ${tool.signature}: ${tool.description}`),
    ),
    section(
      "# On-demand tools",
      onDemandLines(onDemand),
      "These have to be found with ToolSearch before they can be called.",
    ),
  ];
  return sections.filter((part) => part !== "").join("\n\n");
}

/** One short line a tool; what does not fit is counted. */
function onDemandLines(tools: readonly CallDeclaration[]): readonly string[] {
  const shown = tools.length > maxLines ? tools.slice(0, maxLines - 1) : tools;
  const lines = shown.map(({ toolName, description }) =>
    shortLine(`- ${toolName}: ${description}`),
  );
  return shown.length === tools.length
    ? lines
    : [...lines, `… ${tools.length - shown.length} more`];
}

function shortLine(text: string): string {
  const points = Array.from(text.replace(/\s+/gu, " "));
  return points.length <= maxLine ? points.join("") : `${points.slice(0, maxLine - 1).join("")}…`;
}

function section(title: string, lines: readonly string[], before?: string): string {
  if (lines.length === 0) return "";
  return [title, ...(before === undefined ? [] : [before]), ...lines].join("\n");
}
