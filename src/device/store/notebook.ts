/**
 * Rows of the notebook and their words, always changed together.
 */
import { count, desc, eq } from "drizzle-orm";
import { matches, notebookText } from "./full-text.ts";
import { notebookEntry } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";
import { deleteVector } from "./vectors.ts";

export type NotebookRow = typeof notebookEntry.$inferSelect;

/** Every entry, the last changed first. */
export function notebookRows(tx: ReadTx): readonly NotebookRow[] {
  return tx
    .select()
    .from(notebookEntry)
    .orderBy(desc(notebookEntry.changedMs), desc(notebookEntry.row))
    .all();
}

/** One entry. */
export function notebookRow(tx: ReadTx, row: number): NotebookRow | undefined {
  return tx.select().from(notebookEntry).where(eq(notebookEntry.row, row)).get();
}

/** Adds an entry. Returns its row. `words`: its text as the index takes it. */
export function addNotebookRow(
  tx: WriteTx,
  entry: Omit<NotebookRow, "row">,
  words: string,
): number {
  const row = Number(tx.insert(notebookEntry).values(entry).run().lastInsertRowid);
  tx.insert(notebookText).values({ rowid: row, text: words }).run();
  return row;
}

/** Replaces an entry's text. Returns false when there is no such row. */
export function editNotebookRow(
  tx: WriteTx,
  row: number,
  change: Pick<NotebookRow, "text" | "writer" | "changedMs">,
  words: string,
): boolean {
  const changed = tx.update(notebookEntry).set(change).where(eq(notebookEntry.row, row)).run();
  if (changed.changes === 0) return false;
  tx.update(notebookText).set({ text: words }).where(eq(notebookText.rowid, row)).run();
  deleteVector(tx, "notebook", row);
  return true;
}

/** Deletes an entry and its words. Returns false when there is no such row. */
export function deleteNotebookRow(tx: WriteTx, row: number): boolean {
  tx.delete(notebookText).where(eq(notebookText.rowid, row)).run();
  deleteVector(tx, "notebook", row);
  return tx.delete(notebookEntry).where(eq(notebookEntry.row, row)).run().changes === 1;
}

/** Entries that fit an FTS5 expression, the last changed first, and how many fit in all. */
export function matchNotebook(
  tx: ReadTx,
  expression: string,
  limit: number,
): { readonly rows: readonly NotebookRow[]; readonly total: number } {
  const rows = tx
    .select({ entry: notebookEntry })
    .from(notebookText)
    .innerJoin(notebookEntry, eq(notebookEntry.row, notebookText.rowid))
    .where(matches(notebookText, expression))
    .orderBy(desc(notebookEntry.changedMs), desc(notebookEntry.row))
    .limit(limit)
    .all();
  const counted = tx
    .select({ total: count() })
    .from(notebookText)
    .where(matches(notebookText, expression))
    .get();
  return { rows: rows.map(({ entry }) => entry), total: counted?.total ?? 0 };
}
