/**
 * Rows of items that could not be opened: named by their hash, with the reason and how often.
 */
import { asc, count, desc, eq, sql, sum } from "drizzle-orm";
import { setAside } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type SetAsideRow = typeof setAside.$inferSelect;

/** Kinds kept at most; beyond, the oldest goes. A flood of broken items must not fill the disk. */
const maxRows = 5_000;

/** Journals a failure. The same item again only counts. Trim the journal afterwards. */
export function journalSetAside(
  tx: WriteTx,
  failure: { readonly itemHash: string; readonly reason: string; readonly nowMs: number },
): void {
  const { itemHash, reason, nowMs } = failure;
  tx.insert(setAside)
    .values({ itemHash, reason, count: 1, firstMs: nowMs, lastMs: nowMs })
    .onConflictDoUpdate({
      target: setAside.itemHash,
      set: { count: sql`${setAside.count} + 1`, reason, lastMs: nowMs },
    })
    .run();
}

/** The journal, newest first. */
export function setAsideRows(tx: ReadTx): readonly SetAsideRow[] {
  return tx.select().from(setAside).orderBy(desc(setAside.lastMs)).all();
}

/** Failures, counted. */
export function countSetAside(tx: ReadTx): number {
  return Number(
    tx
      .select({ total: sum(setAside.count) })
      .from(setAside)
      .get()?.total ?? 0,
  );
}

/** Keeps the journal within its bound: the oldest kinds go first. */
export function trimSetAside(tx: WriteTx): void {
  const rows = tx.select({ total: count() }).from(setAside).get()?.total ?? 0;
  if (rows <= maxRows) return;
  const oldest = tx
    .select({ itemHash: setAside.itemHash })
    .from(setAside)
    .orderBy(asc(setAside.lastMs))
    .limit(rows - maxRows)
    .all();
  for (const row of oldest) {
    tx.delete(setAside).where(eq(setAside.itemHash, row.itemHash)).run();
  }
}
