/**
 * The port between an agent and what it may do: a tool is its declaration and a function from flat
 * text arguments to a text. What a tool can reach is decided where it is built (tool-set.ts) and by
 * the owner's grants, never by a prompt.
 *
 * A failure is a result that the model reads, so tools never throw. Spec: docs/sources.md "Tools".
 */
import { type ToolDeclaration, toolSet } from "../skills/tools.ts";

/** Who asks, and when. */
export interface ToolContext {
  readonly nowMs: number;
  /** IANA name of the asker's time zone, e.g. `Europe/Berlin`. */
  readonly zone: string;
  /** The question of the turn, where there is one: only the words in it that say when are read. */
  readonly question?: string;
  readonly signal: AbortSignal;
}

/** What a tool answers. */
export type ToolResult =
  | {
      readonly ok: true;
      readonly text: string;
      /** Entries in the text, and entries that fit: the text says so where they differ. */
      readonly shown: number;
      readonly total: number;
      /** The entries as the text has them; absent: the text is one piece. */
      readonly entries?: readonly string[];
      /** No entry has all that was looked for: these come near. The text says so. */
      readonly near?: boolean;
      /** Whether the text holds words that the owner did not write. */
      readonly untrusted: boolean;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      /** Whether the reason holds words that the owner did not write. */
      readonly untrusted?: boolean;
    };

/** One tool of the closed set, able to run. */
export interface Tool {
  readonly declaration: ToolDeclaration;
  /** Runs with arguments that fit the declaration. Anything else is a failure result. */
  readonly run: (
    args: Readonly<Record<string, string>>,
    context: ToolContext,
  ) => Promise<ToolResult>;
}

/** Tools by tool name. */
export type ToolBox = ReadonlyMap<string, Tool>;

/** What a tool is declared as. Throws for a name outside the closed set: that is a bug. */
export function declarationOf(toolName: string): ToolDeclaration {
  const found = toolSet.find((declaration) => declaration.toolName === toolName);
  if (found === undefined) throw new Error(`there is no tool ${toolName}`);
  return found;
}

/** A failure. */
export function failure(reason: string): ToolResult {
  return { ok: false, reason };
}
