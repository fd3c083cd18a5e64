/**
 * What is kept of MCP servers: a listing becomes rows under names that nobody else holds, and rows become
 * what the owner sees and what a server is started with.
 *
 * Which programs run is not its business. Spec: docs/agent.md "MCP servers".
 */
import { readCatalogue } from "./library/catalogue.ts";
import { declareTool } from "./mcp/declare.ts";
import type { McpError, McpServerConfig, McpServerView } from "./mcp/port.ts";
import { isSame } from "./mcp/servers.ts";
import type { ListedTool } from "./mcp/session.ts";
import { heldByCode } from "./skills/registry.ts";
import { mintSlug } from "./skills/slug.ts";
import { toolSet } from "./skills/tools.ts";
import {
  type McpServerRow,
  mcpServerRows,
  type McpToolRow,
  mcpToolRows,
  onDemandNames,
} from "./store/mcp.ts";
import type { ReadTx } from "./store/sqlite.ts";

/** Configured servers. */
const maxServers = 32;

/** Why a server cannot be added. */
export function addProblem(
  rows: readonly McpServerRow[],
  { name }: McpServerConfig,
): McpError | undefined {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) {
    const message = `a server's name: expected lower-case letters, digits and hyphens, at most 32, got ${name}`;
    return { type: "malformed-server", message };
  }
  if (rows.some((row) => row.name === name)) {
    const message = `there is a server ${name} already: remove it first, or choose another name`;
    return { type: "already-added", message };
  }
  return rows.length >= maxServers
    ? { type: "too-many-servers", message: `expected at most ${maxServers} servers` }
    : undefined;
}

/**
 * The tools of a listing as rows: one that stays keeps its name, and its rule while it says the same.
 * What cannot be used is named with its reason.
 */
export function keptTools(
  tx: ReadTx,
  server: string,
  listed: readonly ListedTool[],
): { readonly rows: readonly McpToolRow[]; readonly problems: readonly string[] } {
  const kept = new Map(
    mcpToolRows(tx)
      .filter((row) => row.server === server)
      .map((row) => [row.tool, row]),
  );
  const others = onDemandNames(tx).filter((name) =>
    [...kept.values()].every((row) => row.name !== name),
  );
  const skills = new Set(readCatalogue(tx).skills.map(({ id }) => id));
  const ofCode = heldByCode(toolSet, others);
  const given = new Set([...kept.values()].map(({ name }) => name));
  const rows: McpToolRow[] = [];
  const problems: string[] = [];
  for (const tool of listed) {
    const declared = declareTool(tool);
    if (!declared.ok || rows.some((row) => row.tool === tool.name)) {
      problems.push(declared.ok ? `${tool.name}: listed twice` : declared.error);
      continue;
    }
    const before = kept.get(tool.name);
    const name =
      before?.name ??
      mintSlug(
        `${server}-${tool.name}`,
        (slug) => ofCode(slug) || skills.has(slug) || given.has(slug),
      );
    given.add(name);
    const rule = before !== undefined && isSame(listedOf(before), tool) ? before.rule : "ask";
    rows.push({
      name,
      server,
      tool: tool.name,
      description: tool.description,
      schema: JSON.stringify(tool.schema),
      // What the owner denied stays denied, whatever it says it is now.
      rule: before?.rule === "deny" ? "deny" : rule,
      position: rows.length,
    });
  }
  return { rows, problems };
}

/** What differs between two listings, in words. */
export function changesOf(
  kept: readonly ListedTool[],
  now: readonly ListedTool[],
): readonly string[] {
  const gone = kept.filter(({ name }) => !now.some((tool) => tool.name === name));
  const changes = now.flatMap((tool) => {
    const before = kept.find(({ name }) => name === tool.name);
    if (before === undefined) return [`${tool.name} is new`];
    return isSame(before, tool) ? [] : [`${tool.name} changed its description or its arguments`];
  });
  return [...changes, ...gone.map(({ name }) => `${name} is gone`)];
}

/** A configured server as its owner sees it. */
export function serverView(tx: ReadTx, row: McpServerRow): McpServerView {
  const { name, command, args, env } = configFrom(row);
  return {
    name,
    command,
    args,
    env: Object.keys(env),
    tools: mcpToolRows(tx)
      .filter(({ server }) => server === name)
      .map(({ name: called, tool, description, rule }) => ({
        name: called,
        tool,
        description,
        rule,
      })),
  };
}

/** A kept tool as its server listed it. */
export function listedOf({ tool, description, schema }: McpToolRow): ListedTool {
  return { name: tool, description, schema: JSON.parse(schema) };
}

/** How a server is started; `undefined` when there is none of that name. */
export function configOf(tx: ReadTx, name: string): McpServerConfig | undefined {
  const row = mcpServerRows(tx).find((one) => one.name === name);
  return row === undefined ? undefined : configFrom(row);
}

function configFrom({ name, command, args, env }: McpServerRow): McpServerConfig {
  return { name, command, args: JSON.parse(args), env: JSON.parse(env) };
}
