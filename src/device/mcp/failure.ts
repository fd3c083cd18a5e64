/**
 * What goes wrong with a server, as one closed set: the agent reads the message as a result, the owner
 * sees the type.
 *
 * Spec: docs/agent.md "MCP servers".
 */
import type { McpError } from "./port.ts";

/** Kinds of trouble. */
export type McpTrouble =
  /** The program could not be started. */
  | "mcp-not-started"
  /** It ended, by itself or by a signal. */
  | "mcp-ended"
  /** It did not answer in time. */
  | "mcp-timeout"
  /** It wrote more than a message, or all of an answer, may hold. */
  | "mcp-flooded"
  /** It answered something that is no answer. */
  | "mcp-malformed"
  /** Its tool is not the one that its owner saw. */
  | "mcp-changed"
  /** Nobody waits any more. */
  | "mcp-stopped";

/** Trouble with a server. */
export interface McpFailure extends McpError {
  readonly type: McpTrouble;
}

/** Trouble as an exception, inside the client library. Caught in session.ts. */
export class McpTroubleError extends Error {
  readonly trouble: McpTrouble;

  constructor(trouble: McpTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}
