/**
 * What a step may call, whatever is behind it: one of the six tools, a core tool of the agent, or an
 * on-demand tool of an MCP server. A harness decides which of them a step is offered.
 *
 * Consent is decided here and asked for in steps.ts: a prompt has no part in it.
 * Spec: docs/agent.md "Consent".
 */
import type { ToolDeclaration } from "../skills/tools.ts";
import type { ToolBox, ToolContext, ToolResult } from "../tools/tool.ts";

/** What a brain is told about something that it may call. */
export type CallDeclaration = Pick<
  ToolDeclaration,
  "toolName" | "description" | "signature" | "parameters"
>;

/** Whether the owner is asked before a call. */
export type Consent =
  /** Never: what it reaches was granted apart. */
  | "free"
  /** Only once this turn's context holds words of others. */
  | "after-untrusted"
  | "always"
  /** It is not called at all. */
  | "denied";

/** Something that a step may call. */
export interface Callable {
  readonly declaration: CallDeclaration;
  /** Looked up at every call, so that a rule holds from the moment it is made. */
  readonly consent: () => Consent;
  /** Runs with arguments that fit the declaration. Failure is a result. */
  readonly run: (
    args: Readonly<Record<string, string>>,
    context: ToolContext,
  ) => Promise<ToolResult>;
}

/** The six tools, or some of them, as callables. */
export function ownCallables(
  declarations: readonly ToolDeclaration[],
  tools: ToolBox,
): readonly Callable[] {
  return declarations.map((declaration) => ({
    declaration,
    consent: () => "free",
    run: async (args, context) =>
      (await tools.get(declaration.toolName)?.run(args, context)) ?? {
        ok: false,
        reason: `${declaration.toolName} is not built into this device`,
      },
  }));
}
