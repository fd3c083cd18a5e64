/**
 * Rows of the file index and their words, always changed together. Paths are those of granted roots;
 * what may be looked at is decided by whoever walks them.
 */
import { and, asc, count, eq, inArray, lt, sql } from "drizzle-orm";
import { fileText, matches } from "./full-text.ts";
import { fileEntry } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type FileRow = typeof fileEntry.$inferSelect;
/** How much of a file is indexed, or why nothing is. */
export type FileState = FileRow["state"];

/** States of files that are found by name: whatever is known of their content, they are there. */
export const namedStates: readonly FileState[] = [
  "text",
  "name-only",
  "too-large",
  "encrypted",
  "broken",
  "too-heavy",
];

/** What the index takes of a file. */
export interface FileWords {
  readonly name: string;
  readonly body: string;
}

/** The row of a path. */
export function fileRow(tx: ReadTx, root: string, path: string): FileRow | undefined {
  return tx
    .select()
    .from(fileEntry)
    .where(and(eq(fileEntry.root, root), eq(fileEntry.path, path)))
    .get();
}

/** Notes that a walk has seen a file as it was before. */
export function touchFile(tx: WriteTx, row: number, walk: number): void {
  tx.update(fileEntry).set({ walk }).where(eq(fileEntry.row, row)).run();
}

/** Adds or replaces a file and its words. */
export function putFile(tx: WriteTx, entry: Omit<FileRow, "row">, words: FileWords): void {
  const known = fileRow(tx, entry.root, entry.path);
  if (known !== undefined) deleteRows(tx, [known.row]);
  const added = tx.insert(fileEntry).values(entry).run();
  tx.insert(fileText)
    .values({ rowid: Number(added.lastInsertRowid), ...words })
    .run();
}

/** Forgets the files of a root that the walk of that number, or a later one, did not see. */
export function deleteUnseen(tx: WriteTx, root: string, walk: number): void {
  const rows = tx
    .select({ row: fileEntry.row })
    .from(fileEntry)
    .where(and(eq(fileEntry.root, root), lt(fileEntry.walk, walk)))
    .all();
  deleteRows(
    tx,
    rows.map(({ row }) => row),
  );
}

/** Forgets all files of a root. */
export function deleteRoot(tx: WriteTx, root: string): void {
  deleteUnseen(tx, root, Number.MAX_SAFE_INTEGER);
}

/** Files by how much of them is indexed. */
export function countFiles(tx: ReadTx): ReadonlyMap<FileState, number> {
  const rows = tx
    .select({ state: fileEntry.state, total: count() })
    .from(fileEntry)
    .groupBy(fileEntry.state)
    .all();
  return new Map(rows.map(({ state, total }) => [state, total]));
}

/** Files that fit an FTS5 expression, best first; a fitting name weighs ten times a fitting text. */
export function matchFiles(
  tx: ReadTx,
  expression: string,
  limit: number,
): { readonly rows: readonly FileRow[]; readonly total: number } {
  const found = tx
    .select({ entry: fileEntry })
    .from(fileText)
    .innerJoin(fileEntry, eq(fileEntry.row, fileText.rowid))
    .where(and(matches(fileText, expression), inArray(fileEntry.state, [...namedStates])))
    .orderBy(sql`bm25(${fileText}, 10.0, 1.0)`, asc(fileEntry.path))
    .limit(maxMatched)
    .all();
  return { rows: found.slice(0, limit).map(({ entry }) => entry), total: found.length };
}

/** Matches that are counted and ranked. */
const maxMatched = 1_000;

/** Every entry by row, a page at a time, for comparing names one by one. */
export function filePage(tx: ReadTx, afterRow: number, limit: number): readonly FileRow[] {
  return tx
    .select()
    .from(fileEntry)
    .where(sql`${fileEntry.row} > ${afterRow}`)
    .orderBy(asc(fileEntry.row))
    .limit(limit)
    .all();
}

function deleteRows(tx: WriteTx, rows: readonly number[]): void {
  for (const row of rows) {
    tx.delete(fileText).where(eq(fileText.rowid, row)).run();
    tx.delete(fileEntry).where(eq(fileEntry.row, row)).run();
  }
}
