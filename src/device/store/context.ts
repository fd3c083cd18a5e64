/**
 * What the owner lets the tools reach. Rows only: whether a path makes sense is judged by whoever
 * grants it.
 */
import { and, asc, eq } from "drizzle-orm";
import { contextGrant } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type ContextGrantRow = typeof contextGrant.$inferSelect;
/** What can be granted. */
export type ContextKind = ContextGrantRow["kind"];

/** Every grant, by kind, then by target. */
export function contextGrants(tx: ReadTx): readonly ContextGrantRow[] {
  return tx
    .select()
    .from(contextGrant)
    .orderBy(asc(contextGrant.kind), asc(contextGrant.target))
    .all();
}

/** The targets granted of one kind; none when nothing is. */
export function grantedTargets(tx: ReadTx, kind: ContextKind): readonly string[] {
  return contextGrants(tx)
    .filter((grant) => grant.kind === kind)
    .map(({ target }) => target);
}

/** Grants. Returns false when it was granted already. */
export function addContextGrant(tx: WriteTx, row: ContextGrantRow): boolean {
  return tx.insert(contextGrant).values(row).onConflictDoNothing().run().changes === 1;
}

/** Takes a grant back. */
export function deleteContextGrant(tx: WriteTx, kind: ContextKind, target: string): void {
  tx.delete(contextGrant)
    .where(and(eq(contextGrant.kind, kind), eq(contextGrant.target, target)))
    .run();
}
