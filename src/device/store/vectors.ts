/**
 * Vectors of what entries mean, one row an entry of a source. They are made from an entry's text and
 * leave with it; which texts there are is the source's.
 *
 * Spec: docs/sources.md "Search by meaning".
 */
import { and, count, eq, gt, isNull, max, ne } from "drizzle-orm";

import { meaningVector, memoryLine, notebookEntry } from "./agent-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** A source whose entries have vectors. */
export type MeaningSource = "notebook" | "memory";

export type VectorRow = typeof meaningVector.$inferSelect;

/** An entry without a vector. */
export interface UnreadEntry {
  readonly row: number;
  readonly text: string;
}

/** Stores an entry's vector, replacing the one before. */
export function putVector(tx: WriteTx, vector: Omit<VectorRow, "change">): void {
  tx.delete(meaningVector)
    .where(and(eq(meaningVector.source, vector.source), eq(meaningVector.row, vector.row)))
    .run();
  tx.insert(meaningVector).values(vector).run();
}

/** Forgets an entry's vector. */
export function deleteVector(tx: WriteTx, source: MeaningSource, row: number): void {
  tx.delete(meaningVector)
    .where(and(eq(meaningVector.source, source), eq(meaningVector.row, row)))
    .run();
}

/** Forgets every vector of another model: vectors of two models do not compare. */
export function deleteVectorsOfOthers(tx: WriteTx, model: string): void {
  tx.delete(meaningVector).where(ne(meaningVector.model, model)).run();
}

/** How many vectors a source has. */
export function countVectors(tx: ReadTx, source: MeaningSource): number {
  const counted = tx
    .select({ rows: count() })
    .from(meaningVector)
    .where(eq(meaningVector.source, source))
    .get();
  return counted?.rows ?? 0;
}

/** Vectors of a source that are newer than a change, in order. */
export function vectorsAfter(
  tx: ReadTx,
  source: MeaningSource,
  change: number,
  limit: number,
): readonly VectorRow[] {
  return tx
    .select()
    .from(meaningVector)
    .where(and(eq(meaningVector.source, source), gt(meaningVector.change, change)))
    .orderBy(meaningVector.change)
    .limit(limit)
    .all();
}

/** Entries after a row that have a text and no vector, in order of rows. */
export function entriesWithoutVector(
  tx: ReadTx,
  source: MeaningSource,
  afterRow: number,
  limit: number,
): readonly UnreadEntry[] {
  const table = source === "notebook" ? notebookEntry : memoryLine;
  return tx
    .select({ row: table.row, text: table.text })
    .from(table)
    .leftJoin(
      meaningVector,
      and(eq(meaningVector.source, source), eq(meaningVector.row, table.row)),
    )
    .where(and(gt(table.row, afterRow), ne(table.text, ""), isNull(meaningVector.row)))
    .orderBy(table.row)
    .limit(limit)
    .all();
}

/** The newest row of a source; 0 when it is empty. */
export function newestRow(tx: ReadTx, source: MeaningSource): number {
  const table = source === "notebook" ? notebookEntry : memoryLine;
  return (
    tx
      .select({ row: max(table.row) })
      .from(table)
      .get()?.row ?? 0
  );
}

/** Whether an entry still has that text. */
export function stillSays(tx: ReadTx, source: MeaningSource, { row, text }: UnreadEntry): boolean {
  const table = source === "notebook" ? notebookEntry : memoryLine;
  return tx.select({ text: table.text }).from(table).where(eq(table.row, row)).get()?.text === text;
}
