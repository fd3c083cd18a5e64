/**
 * Rows of the memory log and their words. Lines are added and redacted, never edited.
 *
 * Search walks the index from its newest row and stops early, so its price follows what is shown and
 * not what fits: counts and scores look at a bounded number of lines.
 */
import { and, desc, eq, gt, isNull, notInArray, sql } from "drizzle-orm";
import { matches, memoryText } from "./full-text.ts";
import { memoryLine } from "./agent-tables.ts";
import { message } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";
import { deleteVector } from "./vectors.ts";

export type MemoryRow = typeof memoryLine.$inferSelect;
export type NewMemoryRow = Omit<MemoryRow, "row" | "redactedMs">;

/** Adds a line. Returns false when its source was logged before. `words`: as the index takes them. */
export function addMemoryRow(tx: WriteTx, line: NewMemoryRow, words: string): boolean {
  const added = tx
    .insert(memoryLine)
    .values({ ...line, redactedMs: null })
    .onConflictDoNothing()
    .run();
  if (added.changes === 0) return false;
  tx.insert(memoryText)
    .values({ rowid: Number(added.lastInsertRowid), text: words })
    .run();
  return true;
}

/** The newest lines, newest first. */
export function newestMemoryRows(
  tx: ReadTx,
  limit: number,
  without: readonly string[],
): readonly MemoryRow[] {
  return tx
    .select()
    .from(memoryLine)
    .where(notInArray(memoryLine.conversation, [...without]))
    .orderBy(desc(memoryLine.row))
    .limit(limit)
    .all();
}

/** A line that has its text, unless its conversation is one of those. */
export function memoryRow(
  tx: ReadTx,
  row: number,
  without: readonly string[],
): MemoryRow | undefined {
  const line = tx
    .select()
    .from(memoryLine)
    .where(and(eq(memoryLine.row, row), isNull(memoryLine.redactedMs)))
    .get();
  return line === undefined || without.includes(line.conversation) ? undefined : line;
}

/** Takes a line's text and words away for good. Returns false when there is no such line with text. */
export function redactMemoryRow(tx: WriteTx, row: number, nowMs: number): boolean {
  const changed = tx
    .update(memoryLine)
    .set({ text: "", redactedMs: nowMs })
    .where(and(eq(memoryLine.row, row), isNull(memoryLine.redactedMs)))
    .run();
  if (changed.changes === 0) return false;
  tx.delete(memoryText).where(eq(memoryText.rowid, row)).run();
  deleteVector(tx, "memory", row);
  return true;
}

/** Lines that a search looks at before it ranks or counts: newer ones first. */
export const memorySearchDepth = 2_000;

/**
 * Lines that fit an FTS5 expression, without some conversations. `total` stops at
 * `memorySearchDepth`. `by`: newest first, or best first among those.
 */
export function matchMemory(
  tx: ReadTx,
  expression: string,
  how: {
    readonly limit: number;
    readonly by: "newest" | "best";
    readonly without: readonly string[];
  },
): { readonly rows: readonly MemoryRow[]; readonly total: number } {
  const found = tx
    .select({ row: memoryLine.row, score: sql<number>`bm25(${memoryText})` })
    .from(memoryText)
    .innerJoin(memoryLine, eq(memoryLine.row, memoryText.rowid))
    .where(
      and(matches(memoryText, expression), notInArray(memoryLine.conversation, [...how.without])),
    )
    .orderBy(desc(memoryText.rowid))
    .limit(memorySearchDepth)
    .all();
  const ranked = how.by === "newest" ? found : found.toSorted((a, b) => a.score - b.score);
  const rows = ranked.slice(0, how.limit).flatMap(({ row }) => {
    const line = tx.select().from(memoryLine).where(eq(memoryLine.row, row)).get();
    return line === undefined ? [] : [line];
  });
  return { rows, total: found.length };
}

/** Rows of conversations after a row, in order of arrival. */
export function messagesAfter(
  tx: ReadTx,
  row: number,
  limit: number,
): readonly (typeof message.$inferSelect)[] {
  return tx
    .select()
    .from(message)
    .where(gt(message.row, row))
    .orderBy(message.row)
    .limit(limit)
    .all();
}
