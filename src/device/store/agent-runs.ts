/**
 * Stored turns of the agent, newest last. Plain data: what a trace means is decided in agent/.
 *
 * Bound: the newest 1,000; a further one drops the oldest.
 */
import { and, asc, count, desc, eq, isNotNull, lte, max, min } from "drizzle-orm";

import { agentRun } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** A stored turn. `trace` is the JSON of its events. */
export type AgentRunRow = Omit<typeof agentRun.$inferSelect, "row">;

/** Turns that are kept. */
export const maxRuns = 1_000;

/** Keeps a turn, and drops what is beyond the bound. */
export function addAgentRun(tx: WriteTx, run: AgentRunRow): void {
  const row = Number(tx.insert(agentRun).values(run).run().lastInsertRowid);
  tx.delete(agentRun)
    .where(lte(agentRun.row, row - maxRuns))
    .run();
}

/** The newest turns, oldest of them first, without their traces. */
export function listAgentRuns(tx: ReadTx, limit: number): readonly Omit<AgentRunRow, "trace">[] {
  return tx
    .select({
      runId: agentRun.runId,
      startedMs: agentRun.startedMs,
      question: agentRun.question,
      stopReason: agentRun.stopReason,
      chatId: agentRun.chatId,
    })
    .from(agentRun)
    .orderBy(desc(agentRun.row))
    .limit(limit)
    .all()
    .toReversed();
}

/** Turns whose id begins like that, at most two: one is found, two are ambiguous. */
export function agentRunsById(tx: ReadTx, prefix: string): readonly AgentRunRow[] {
  // Traces are long: only those of the runs that are meant are read.
  const ids = tx
    .select({ runId: agentRun.runId })
    .from(agentRun)
    .orderBy(asc(agentRun.row))
    .all()
    .map(({ runId }) => runId);
  const meant = ids.includes(prefix)
    ? [prefix]
    : ids.filter((id) => prefix !== "" && id.startsWith(prefix)).slice(0, 2);
  return meant.flatMap((id) => tx.select().from(agentRun).where(eq(agentRun.runId, id)).all());
}

/** The newest turns of a chat, oldest of them first. */
export function agentRunsOfChat(tx: ReadTx, chatId: string, limit: number): readonly AgentRunRow[] {
  return tx
    .select()
    .from(agentRun)
    .where(eq(agentRun.chatId, chatId))
    .orderBy(desc(agentRun.row))
    .limit(limit)
    .all()
    .toReversed();
}

/** A chat as its rows tell it. */
export interface AgentChatRow {
  readonly chatId: string;
  readonly question: string;
  readonly turns: number;
  readonly lastMs: number;
}

/** The newest chats, the one that went on last at the end. */
export function listAgentChats(tx: ReadTx, limit: number): readonly AgentChatRow[] {
  return tx
    .select({
      chatId: agentRun.chatId,
      first: min(agentRun.row),
      last: max(agentRun.row),
      turns: count(),
      lastMs: max(agentRun.startedMs),
    })
    .from(agentRun)
    .where(isNotNull(agentRun.chatId))
    .groupBy(agentRun.chatId)
    .orderBy(desc(max(agentRun.row)))
    .limit(limit)
    .all()
    .toReversed()
    .map(({ chatId, first, turns, lastMs }) => ({
      chatId: chatId ?? "",
      question:
        tx
          .select({ question: agentRun.question })
          .from(agentRun)
          .where(eq(agentRun.row, first ?? 0))
          .get()?.question ?? "",
      turns,
      lastMs: lastMs ?? 0,
    }));
}

/** Marks a proposal as carried out. Answers whether it was one that still waited. */
export function approveAgentRun(tx: WriteTx, runId: string): boolean {
  const { changes } = tx
    .update(agentRun)
    .set({ stopReason: "approved" })
    .where(and(eq(agentRun.runId, runId), eq(agentRun.stopReason, "proposed")))
    .run();
  return changes > 0;
}
