/**
 * Stored turns of the agent, newest last. Plain data: what a trace means is decided in agent/.
 *
 * Bound: the newest 1,000; a further one drops the oldest.
 */
import { asc, desc, eq, lte } from "drizzle-orm";

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
export function listAgentRuns(tx: ReadTx, count: number): readonly Omit<AgentRunRow, "trace">[] {
  return tx
    .select({
      runId: agentRun.runId,
      startedMs: agentRun.startedMs,
      question: agentRun.question,
      stopReason: agentRun.stopReason,
    })
    .from(agentRun)
    .orderBy(desc(agentRun.row))
    .limit(count)
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
