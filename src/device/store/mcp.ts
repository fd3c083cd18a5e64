/**
 * Configured MCP servers, their tools as their owner saw them, and the owner's rules. Plain rows: what a
 * schema means is decided in mcp/.
 */
import { asc, eq } from "drizzle-orm";

import { mcpServer, mcpTool } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** A server. `args` and `env` are JSON. */
export type McpServerRow = typeof mcpServer.$inferSelect;
/** A tool. `schema` is JSON. */
export type McpToolRow = typeof mcpTool.$inferSelect;

/** Servers in the order of their names. */
export function mcpServerRows(tx: ReadTx): readonly McpServerRow[] {
  return tx.select().from(mcpServer).orderBy(asc(mcpServer.name)).all();
}

/** Tools, server by server, as listed. */
export function mcpToolRows(tx: ReadTx): readonly McpToolRow[] {
  return tx.select().from(mcpTool).orderBy(asc(mcpTool.server), asc(mcpTool.position)).all();
}

/** Names that on-demand tools hold. */
export function onDemandNames(tx: ReadTx): readonly string[] {
  return tx
    .select({ name: mcpTool.name })
    .from(mcpTool)
    .all()
    .map(({ name }) => name);
}

/** Keeps a server. */
export function addMcpServer(tx: WriteTx, server: McpServerRow): void {
  tx.insert(mcpServer).values(server).run();
}

/** Replaces the tools of a server. */
export function replaceMcpTools(tx: WriteTx, server: string, tools: readonly McpToolRow[]): void {
  tx.delete(mcpTool).where(eq(mcpTool.server, server)).run();
  for (const tool of tools) tx.insert(mcpTool).values(tool).run();
}

/** Forgets a server with its tools. Answers whether there was one. */
export function deleteMcpServer(tx: WriteTx, name: string): boolean {
  tx.delete(mcpTool).where(eq(mcpTool.server, name)).run();
  return tx.delete(mcpServer).where(eq(mcpServer.name, name)).run().changes > 0;
}

/** Sets the rule of one tool. */
export function setMcpRule(tx: WriteTx, name: string, rule: McpToolRow["rule"]): void {
  tx.update(mcpTool).set({ rule }).where(eq(mcpTool.name, name)).run();
}
