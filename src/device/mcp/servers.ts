/**
 * The servers that run: each is started at its first call, kept while it is used, and ended when it was
 * idle for a while, was removed, or the device closes. A call goes only to a tool that is still, word for
 * word, the one that the owner saw.
 *
 * Spec: docs/agent.md "MCP servers".
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { McpFailure } from "./failure.ts";
import type { McpServerConfig } from "./port.ts";
import {
  type ListedTool,
  type McpAnswer,
  type McpPatience,
  type McpSession,
  openMcpSession,
} from "./session.ts";
import type { StdioParts } from "./stdio.ts";

/** Running servers. */
export interface McpServers {
  /** Starts a server anew and lists its tools. It is ended again. */
  readonly list: (config: McpServerConfig) => Promise<Result<readonly ListedTool[], McpFailure>>;
  readonly call: (call: McpCall, signal: AbortSignal) => Promise<Result<McpAnswer, McpFailure>>;
  /** Ends a server, if it runs. */
  readonly forget: (name: string) => void;
  /** Ends all; resolves when their processes are gone. */
  readonly close: () => Promise<void>;
}

/** One call. */
export interface McpCall {
  readonly config: McpServerConfig;
  /** The tool as it is kept. */
  readonly kept: ListedTool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Patience in ordinary use. A server that is fetched at its first start takes its time. */
const defaultPatience: McpPatience = { startMs: 60_000, callMs: 60_000 };
/** A server that nobody calls for so long is ended. Units: ms. */
const idleMs = 300_000;

interface Running {
  readonly opening: Promise<Result<McpSession, McpFailure>>;
  cancelIdle: () => void;
}

/** Builds an empty set. */
export function createMcpServers(
  parts: StdioParts,
  patience: McpPatience = defaultPatience,
): McpServers {
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  const end = ({ opening, cancelIdle }: Running): void => {
    cancelIdle();
    const task = opening
      .then((opened) => (opened.ok ? opened.value[Symbol.asyncDispose]() : undefined))
      .finally(() => ending.delete(task));
    ending.add(task);
  };
  const forget = (name: string): void => {
    const entry = running.get(name);
    running.delete(name);
    if (entry !== undefined) end(entry);
  };
  const session = async (config: McpServerConfig): Promise<Result<McpSession, McpFailure>> => {
    const known = await running.get(config.name)?.opening;
    if (known?.ok === true && known.value.alive()) return known;
    forget(config.name);
    const opening = openMcpSession(config, parts, patience);
    running.set(config.name, { opening, cancelIdle: () => undefined });
    return await opening;
  };
  const rest = (name: string): void => {
    const entry = running.get(name);
    if (entry === undefined) return;
    entry.cancelIdle();
    entry.cancelIdle = parts.clock.schedule(idleMs, () => forget(name));
  };
  return {
    list: async (config) => {
      const opened = await openMcpSession(config, parts, patience);
      if (!opened.ok) return opened;
      await using started = opened.value;
      return ok(started.tools);
    },
    call: async ({ config, kept, args }, signal) => {
      const opened = await session(config);
      if (!opened.ok) return opened;
      const now = opened.value.tools.find(({ name }) => name === kept.name);
      if (now === undefined || !isSame(now, kept)) {
        const message = `${config.name}: its tool ${kept.name} is not the one that was added; the owner looks with pixie mcp test ${config.name}`;
        return err({ type: "mcp-changed", message });
      }
      const answer = await opened.value.call(kept.name, args, signal);
      rest(config.name);
      return answer;
    },
    forget,
    close: async () => {
      for (const name of running.keys()) forget(name);
      await Promise.all(ending);
    },
  };
}

/** Whether two listings say the same. */
export function isSame(a: ListedTool, b: ListedTool): boolean {
  return a.description === b.description && JSON.stringify(a.schema) === JSON.stringify(b.schema);
}
