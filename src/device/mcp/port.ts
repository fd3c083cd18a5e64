/**
 * What the device's contract says about MCP servers: programs that its owner configured, the tools that
 * they serve, and the owner's rules. Types only; own-mcp.ts joins them.
 *
 * Spec: docs/agent.md "MCP servers".
 */
import type { Result } from "../../shared/result.ts";

/** What a person got wrong, or what a server did. */
export interface McpError {
  readonly type: string;
  readonly message: string;
}

/** How a server is started. */
export interface McpServerConfig {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the few variables that every server gets. Values may be secrets. */
  readonly env: Readonly<Record<string, string>>;
}

/** The owner's rule about a tool. */
export type McpRule = "ask" | "allow" | "deny";

/** One tool of a server. */
export interface McpToolView {
  /** What the agent calls. */
  readonly name: string;
  /** The server's own name of it. */
  readonly tool: string;
  readonly description: string;
  readonly rule: McpRule;
}

/** A configured server. */
export interface McpServerView {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Names of the variables that are set; their values are not told. */
  readonly env: readonly string[];
  readonly tools: readonly McpToolView[];
}

/** What a server answered when it was started anew. */
export interface McpTestView {
  readonly server: McpServerView;
  /** What differs from the tools that are kept. */
  readonly changes: readonly string[];
  /** Tools that cannot be used, and why. */
  readonly problems: readonly string[];
}

/** MCP servers of one device, for its owner. */
export interface DeviceMcp {
  readonly servers: () => readonly McpServerView[];
  /** Starts a server, lists its tools and keeps both. Nothing is kept when it fails. */
  readonly add: (config: McpServerConfig) => Promise<Result<McpTestView, McpError>>;
  readonly remove: (name: string) => Result<undefined, McpError>;
  /** Starts a server again and compares; `accept` keeps what it lists now. */
  readonly test: (
    name: string,
    options: { readonly accept: boolean },
  ) => Promise<Result<McpTestView, McpError>>;
  /** Sets the rule of a tool, or of all tools of a server. Answers which. */
  readonly rule: (target: string, rule: McpRule) => Result<readonly string[], McpError>;
}
