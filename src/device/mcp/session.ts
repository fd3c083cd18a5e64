/**
 * A conversation with one running server: its tools, listed once, and calls. Every wait has a bound, and
 * whatever the server does is an answer or a typed failure.
 *
 * Nothing that the client library could do for a server is offered to it: no files, no sampling, no
 * questions to the owner. What its words mean is decided by who calls. Spec: docs/agent.md "MCP servers".
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { ResultSchema } from "@modelcontextprotocol/sdk/types.js";

import { err, ok, type Result } from "../../shared/result.ts";
import { softwareVersion } from "../../shared/wire/version.ts";
import { type McpFailure, McpTroubleError } from "./failure.ts";
import type { McpServerConfig } from "./port.ts";
import { createStdioTransport, type StdioParts, type StdioTransport } from "./stdio.ts";

/** A tool as its server lists it. Nothing of it is trusted. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** What a call answered. */
export interface McpAnswer {
  /** The server says that the call failed. */
  readonly failed: boolean;
  readonly text: string;
}

/** A running server. */
export interface McpSession extends AsyncDisposable {
  readonly tools: readonly ListedTool[];
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Result<McpAnswer, McpFailure>>;
  /** Whether the process still runs. */
  readonly alive: () => boolean;
}

/** Bounds of a server's answers. Units: ms. */
export interface McpPatience {
  /** Until it is started and has listed its tools. */
  readonly startMs: number;
  readonly callMs: number;
}

/** Tools of one server, and pages in which it lists them. */
const maxTools = 256;
const maxPages = 32;

/** Starts a server and lists its tools. Errors: whatever goes wrong, by type. */
export async function openMcpSession(
  config: McpServerConfig,
  parts: StdioParts,
  patience: McpPatience,
): Promise<Result<McpSession, McpFailure>> {
  // The client library is large; a device without servers never loads it.
  const [{ Client: ClientOf }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const transport = createStdioTransport(config, parts);
  const client: Client = new ClientOf({ name: "pixie", version: softwareVersion });
  const close = async (): Promise<void> => {
    await client.close();
    await transport.close();
  };
  const attempt = <T>(work: Promise<T>, signal?: AbortSignal): Promise<Result<T, McpFailure>> =>
    work.then(ok, (cause: unknown) => err(failureOf(config.name, cause, transport, signal)));
  const listed = await attempt(
    client
      .connect(transport, { timeout: patience.startMs })
      .then(() => listTools(client, types.ResultSchema, patience.startMs)),
  );
  if (!listed.ok) {
    await close();
    return listed;
  }
  return ok({
    tools: listed.value,
    alive: () => transport.trouble() === undefined,
    call: async (tool, args, signal) => {
      const params = { name: tool, arguments: { ...args } };
      const answer = await attempt(
        client.request({ method: "tools/call", params }, types.CallToolResultSchema, {
          timeout: patience.callMs,
          // The library never takes its listener off: it gets a signal of its own.
          signal: AbortSignal.any([signal]),
        }),
        signal,
      );
      return answer.ok
        ? ok({ failed: answer.value.isError === true, text: textOf(answer.value.content) })
        : answer;
    },
    [Symbol.asyncDispose]: close,
  });
}

async function listTools(
  client: Client,
  schema: typeof ResultSchema,
  timeout: number,
): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && tools.length < maxTools; page++) {
    const params = cursor === undefined ? {} : { cursor };
    // Read by hand: one tool that is none must not hide the others.
    const listed = await client.request({ method: "tools/list", params }, schema, { timeout });
    if (!Array.isArray(listed["tools"])) {
      throw new McpTroubleError("mcp-malformed", "its answer lists no tools");
    }
    tools.push(...listed["tools"].flatMap(listedTool));
    cursor = typeof listed["nextCursor"] === "string" ? listed["nextCursor"] : undefined;
    if (cursor === undefined) break;
  }
  return tools.slice(0, maxTools);
}

function listedTool(tool: unknown): readonly ListedTool[] {
  if (typeof tool !== "object" || tool === null || !("name" in tool)) return [];
  const { name, description, inputSchema } = { description: "", inputSchema: null, ...tool };
  if (typeof name !== "string") return [];
  return [
    { name, description: typeof description === "string" ? description : "", schema: inputSchema },
  ];
}

function textOf(content: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return content
    .map(({ type, text }) => (typeof text === "string" ? text : `[${type}, not shown]`))
    .join("\n");
}

function failureOf(
  name: string,
  cause: unknown,
  transport: StdioTransport,
  signal: AbortSignal | undefined,
): McpFailure {
  const known = cause instanceof McpTroubleError ? cause : transport.trouble();
  if (known !== undefined) return { type: known.trouble, message: `${name}: ${known.message}` };
  if (signal?.aborted === true) return { type: "mcp-stopped", message: `${name}: stopped` };
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === requestTimeout) {
    return { type: "mcp-timeout", message: `${name}: no answer in time` };
  }
  const said = cause instanceof Error ? cause.message : String(cause);
  return { type: "mcp-malformed", message: `${name}: ${said.slice(0, 500)}` };
}

/** `ErrorCode.RequestTimeout` of the client library. */
const requestTimeout = -32_001;
