/**
 * Tools of the agent itself. `CallTool` is how everything is called; `Skill` is offered from the first
 * request of a turn whenever there is a skill to load, and never found by searching; `ToolSearch` exists
 * only where there are on-demand tools. A turn that may not act has none of them.
 *
 * What they do is in resident.ts. Spec: docs/agent.md "Core tools".
 */
import type { CallDeclaration } from "./callable.ts";

/** Names of the core tools. */
export type CoreToolName = "CallTool" | "Skill" | "ToolSearch";

/** What a turn has at hand. */
export interface AtHand {
  readonly skills: number;
  readonly onDemand: number;
}

/** The core tools of a turn that acts. */
export function coreToolNames({ skills, onDemand }: AtHand): readonly CoreToolName[] {
  return [
    "CallTool",
    ...(skills > 0 ? (["Skill"] as const) : []),
    ...(onDemand > 0 ? (["ToolSearch"] as const) : []),
  ];
}

/** One line each, for the system prompt. */
export const coreToolLines: Readonly<Record<CoreToolName, string>> = {
  CallTool:
    "CallTool {tool, args}: makes one call of a tool that is bound, with all its arguments.",
  Skill: "Skill {id}: answers with the whole procedure of a skill and binds its tools.",
  ToolSearch:
    "ToolSearch {query}: looks on-demand tools up by name or by what they do, and binds them.",
};

/** `Skill` for the ids that may be loaded. */
export function skillDeclaration(ids: readonly string[]): CallDeclaration {
  return declare("Skill", coreToolLines.Skill, {
    id: { type: "string", description: "the skill's handle", maxLength: 64, enum: ids },
  });
}

/** `ToolSearch`. */
export const toolSearchDeclaration: CallDeclaration = declare(
  "ToolSearch",
  coreToolLines.ToolSearch,
  {
    query: { type: "string", description: "a name, or what the tool should do", maxLength: 200 },
  },
);

function declare(
  toolName: CoreToolName,
  description: string,
  properties: CallDeclaration["parameters"]["properties"],
): CallDeclaration {
  const names = Object.keys(properties);
  return {
    toolName,
    description,
    signature: `${toolName}(${names.map((name) => `${name}: string`).join(", ")})`,
    parameters: { type: "object", properties, required: names, additionalProperties: false },
  };
}
