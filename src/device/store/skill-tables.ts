/**
 * Tables of skills: the list, where imported ones came from, and what was imported.
 *
 * Part of schema.ts, from which migrations are generated.
 */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { flag } from "./columns.ts";

/** Skills in stored order. */
export const skill = sqliteTable("skill", {
  id: text().primaryKey(),
  position: integer().notNull(),
  name: text().notNull(),
  nameIsSet: flag().notNull(),
  shortDescription: text().notNull(),
  detailedBody: text().notNull(),
  enabled: flag().notNull(),
  advertised: flag().notNull(),
});

/** Where imported skills came from: the plain data of skills/origin, as JSON. */
export const skillOrigin = sqliteTable("skill_origin", {
  key: text().primaryKey(),
  json: text().notNull(),
});

/** Imports that were accepted, with their outcome as JSON. */
export const skillImport = sqliteTable("skill_import", {
  row: integer().primaryKey({ autoIncrement: true }),
  senderAik: text().notNull(),
  messageId: text().notNull(),
  bundleHash: text().notNull(),
  outcome: text().notNull(),
  importedMs: integer().notNull(),
});
