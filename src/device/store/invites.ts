/**
 * Rows about invites that this account made. A closed invite stays, so that a late guest is
 * recognised and refused.
 */
import { asc, eq } from "drizzle-orm";
import { invite } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type InviteRow = typeof invite.$inferSelect;

/** Keeps an invite. One that is there already stays as it is. */
export function addInvite(tx: WriteTx, row: InviteRow): void {
  tx.insert(invite).values(row).onConflictDoNothing().run();
}

/** The invite with that id. */
export function getInvite(tx: ReadTx, inviteId: string): InviteRow | undefined {
  return tx.select().from(invite).where(eq(invite.inviteId, inviteId)).get();
}

/** All invites, oldest first. */
export function allInvites(tx: ReadTx): readonly InviteRow[] {
  return tx.select().from(invite).orderBy(asc(invite.createdMs)).all();
}

/** Closes an invite: it was used, or its maker took it back. */
export function closeInvite(tx: WriteTx, inviteId: string, nowMs: number): void {
  tx.update(invite).set({ closedMs: nowMs }).where(eq(invite.inviteId, inviteId)).run();
}
