/**
 * Joins the MCP servers that the owner configured with the agent: what is kept of them in the store, the
 * programs that run, and the on-demand tools that the agent may be offered.
 *
 * A denied tool is not offered at all, and the rule is looked up again at every call.
 * Spec: docs/agent.md "MCP servers".
 */
import { homedir } from "node:os";

import type { Clock } from "../shared/clock.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Callable, Consent } from "./agent/callable.ts";
import { cutVisibly } from "./agent/untrusted.ts";
import { type DeclaredTool, declareTool, valuesOf } from "./mcp/declare.ts";
import type { DeviceMcp, McpError, McpServerConfig, McpTestView } from "./mcp/port.ts";
import { createMcpServers, type McpServers } from "./mcp/servers.ts";
import {
  addProblem,
  changesOf,
  configOf,
  keptTools,
  listedOf,
  serverView,
} from "./own-mcp-rows.ts";
import {
  addMcpServer,
  deleteMcpServer,
  mcpServerRows,
  type McpToolRow,
  mcpToolRows,
  replaceMcpTools,
  setMcpRule,
} from "./store/mcp.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type { ToolResult } from "./tools/tool.ts";

/** Servers for the owner, on-demand tools for the agent. */
export interface OwnMcp {
  readonly mcp: DeviceMcp;
  /** Tools that are not denied. */
  readonly onDemand: () => readonly Callable[];
  readonly close: () => Promise<void>;
}

/** Variables of the device's own environment that a server gets. */
const inherited = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/** Text of one result. Units: code points. */
const maxResult = 6_000;

/** Joins them. No program starts before the first call. */
export function createOwnMcp({
  store,
  clock,
  hostEnv = process.env,
}: {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly hostEnv?: Readonly<Record<string, string | undefined>>;
}): OwnMcp {
  const baseEnv = Object.fromEntries(inherited.flatMap((name) => pairOf(name, hostEnv[name])));
  const servers = createMcpServers({ clock, baseEnv, cwd: homedir() });
  return {
    mcp: {
      servers: () => store.read((tx) => mcpServerRows(tx).map((row) => serverView(tx, row))),
      add: (config) => add(store, servers, clock.nowMs(), config),
      remove: (name) => {
        if (!store.write((tx) => deleteMcpServer(tx, name))) return err(noSuchServer(name));
        servers.forget(name);
        return ok(undefined);
      },
      test: (name, options) => test(store, servers, name, options),
      rule: (target, rule) =>
        store.write((tx) => {
          const meant = mcpToolRows(tx).filter(
            ({ name, server }) => name === target || server === target,
          );
          if (meant.length === 0) return err(noSuchTool(target));
          for (const { name } of meant) setMcpRule(tx, name, rule);
          return ok(meant.map(({ name }) => name));
        }),
    },
    onDemand: () => {
      const rows = store.read(mcpToolRows).filter(({ rule }) => rule !== "deny");
      return rows.flatMap((row) => callableOf(store, servers, row) ?? []);
    },
    close: servers.close,
  };
}

function callableOf(
  store: DeviceStore,
  servers: McpServers,
  row: McpToolRow,
): Callable | undefined {
  const declared = declareTool(listedOf(row));
  if (!declared.ok) return undefined;
  const rowNow = (): McpToolRow | undefined =>
    store.read(mcpToolRows).find(({ name }) => name === row.name);
  return {
    declaration: declarationOf(row.name, declared.value),
    consent: () => consentOf(rowNow()),
    run: async (args, { signal }) => {
      const config = store.read((tx) => configOf(tx, row.server));
      if (config === undefined) return failed(`the server ${row.server} was removed`);
      const values = valuesOf(declared.value.arguments, args);
      if (!values.ok) return failed(values.error);
      const call = { config, kept: listedOf(row), args: values.value };
      const answer = await servers.call(call, signal);
      // A server's words stand in its answers and in its failures alike.
      if (!answer.ok) return { ...failed(answer.error.message), untrusted: true };
      const text = cutVisibly(answer.value.text, maxResult);
      return answer.value.failed
        ? { ...failed(text), untrusted: true }
        : { ok: true, text, shown: 1, total: 1, untrusted: true };
    },
  };
}

function failed(reason: string): Extract<ToolResult, { readonly ok: false }> {
  return { ok: false, reason };
}

/** The deny list comes before any allow, and a tool that is gone is not called. */
function consentOf(row: McpToolRow | undefined): Consent {
  if (row === undefined || row.rule === "deny") return "denied";
  return row.rule === "allow" ? "after-untrusted" : "always";
}

function declarationOf(toolName: string, declared: DeclaredTool): Callable["declaration"] {
  const properties = declared.arguments.map(({ name, kind, description, choices }) => [
    name,
    {
      type: "string",
      description: kind === "text" ? description : `${description} (as ${kind})`,
      maxLength: 4_000,
      ...(choices === undefined ? {} : { enum: choices }),
    } as const,
  ]);
  const shown = declared.arguments.map(
    ({ name, kind, required }) =>
      `${name}${required ? "" : "?"}: ${kind === "text" ? "string" : kind}`,
  );
  return {
    toolName,
    description: declared.description,
    signature: `${toolName}(${shown.join(", ")})`,
    parameters: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: declared.arguments.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
  };
}

async function add(
  store: DeviceStore,
  servers: McpServers,
  addedMs: number,
  config: McpServerConfig,
): Promise<Result<McpTestView, McpError>> {
  const { name, command, args, env } = config;
  const refused = store.read((tx) => addProblem(mcpServerRows(tx), config));
  if (refused !== undefined) return err(refused);
  const listed = await servers.list(config);
  if (!listed.ok) return listed;
  return store.write((tx) => {
    // Another add may have come meanwhile.
    const late = addProblem(mcpServerRows(tx), config);
    if (late !== undefined) return err(late);
    const row = { name, command, args: JSON.stringify(args), env: JSON.stringify(env), addedMs };
    addMcpServer(tx, row);
    const { rows, problems } = keptTools(tx, name, listed.value);
    replaceMcpTools(tx, name, rows);
    return ok({ server: serverView(tx, row), changes: [], problems });
  });
}

async function test(
  store: DeviceStore,
  servers: McpServers,
  name: string,
  { accept }: { readonly accept: boolean },
): Promise<Result<McpTestView, McpError>> {
  const config = store.read((tx) => configOf(tx, name));
  if (config === undefined) return err(noSuchServer(name));
  const listed = await servers.list(config);
  if (!listed.ok) return listed;
  return store.write((tx) => {
    const kept = mcpToolRows(tx).filter(({ server }) => server === name);
    const { rows, problems } = keptTools(tx, name, listed.value);
    const changes = changesOf(kept.map(listedOf), rows.map(listedOf));
    if (accept) {
      replaceMcpTools(tx, name, rows);
      tx.afterCommit(() => servers.forget(name));
    }
    const row = mcpServerRows(tx).find((one) => one.name === name);
    if (row === undefined) return err(noSuchServer(name));
    return ok({ server: serverView(tx, row), changes, problems });
  });
}

function pairOf(name: string, value: string | undefined): readonly [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

function noSuchServer(name: string): McpError {
  return { type: "no-such-server", message: `there is no server ${name}: see pixie mcp list` };
}

function noSuchTool(target: string): McpError {
  return {
    type: "no-such-tool",
    message: `there is no server and no tool ${target}: see pixie mcp list`,
  };
}
