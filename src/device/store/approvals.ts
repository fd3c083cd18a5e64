/**
 * Calls that the owner was asked about, newest last. Plain rows: who waits for an answer is in
 * approvals.ts beside the rooms.
 *
 * Bound: the newest 1,000; a further one drops the oldest.
 */
import { and, desc, eq, lte } from "drizzle-orm";

import { agentApproval } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** One call. */
export type ApprovalRow = Omit<typeof agentApproval.$inferSelect, "row">;

const maxApprovals = 1_000;

/** Keeps a question, and drops what is beyond the bound. */
export function addApproval(tx: WriteTx, approval: ApprovalRow): void {
  const row = Number(tx.insert(agentApproval).values(approval).run().lastInsertRowid);
  tx.delete(agentApproval)
    .where(lte(agentApproval.row, row - maxApprovals))
    .run();
}

/** The newest questions, oldest of them first. */
export function listApprovals(tx: ReadTx, limit: number): readonly ApprovalRow[] {
  return tx
    .select()
    .from(agentApproval)
    .orderBy(desc(agentApproval.row))
    .limit(limit)
    .all()
    .toReversed();
}

/** Questions whose id begins like that. */
export function approvalsById(tx: ReadTx, prefix: string): readonly ApprovalRow[] {
  return tx
    .select()
    .from(agentApproval)
    .all()
    .filter(({ approvalId }) => prefix !== "" && approvalId.startsWith(prefix));
}

/** Ends a question that still waits. Answers whether it did. */
export function endApproval(
  tx: WriteTx,
  approvalId: string,
  end: Pick<ApprovalRow, "state" | "answeredMs" | "answeredBy">,
): boolean {
  const waiting = and(eq(agentApproval.approvalId, approvalId), eq(agentApproval.state, "asked"));
  return tx.update(agentApproval).set(end).where(waiting).run().changes > 0;
}

/** Withdraws every question that waits: the turns that asked are gone. */
export function withdrawApprovals(tx: WriteTx): void {
  tx.update(agentApproval)
    .set({ state: "withdrawn" })
    .where(eq(agentApproval.state, "asked"))
    .run();
}
