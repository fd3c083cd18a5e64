/**
 * The full-text indexes as tables that queries may name. drizzle cannot describe virtual tables, so
 * they are made by a migration of their own and are not part of schema.ts.
 *
 * Texts go in as `indexedText` of search-words.ts in sources/ leaves them; queries are FTS5
 * expressions that were built there too, never what somebody typed.
 */
import { type SQL, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Words of notebook entries. */
export const notebookText = sqliteTable("notebook_text", {
  rowid: integer().notNull(),
  text: text().notNull(),
});

/** Words of the memory log. */
export const memoryText = sqliteTable("memory_text", {
  rowid: integer().notNull(),
  text: text().notNull(),
});

/** Words of file names and of what the files say. Holds no text to be read back. */
export const fileText = sqliteTable("file_text", {
  rowid: integer().notNull(),
  name: text().notNull(),
  body: text().notNull(),
});

/** Whether a row of an index fits an FTS5 expression. */
export function matches(
  index: typeof notebookText | typeof memoryText | typeof fileText,
  expression: string,
): SQL {
  return sql`${index} match ${expression}`;
}
