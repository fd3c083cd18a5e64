/**
 * Tables of renewals: which identity key took over from which, of other people and of ourselves, and
 * what this device needs to speak for keys of its account that are not the present one.
 *
 * Part of schema.ts, from which migrations are generated. Spec: docs/protocol.md "Renewal of an account".
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { bytes, flag } from "./columns.ts";

/**
 * Every renewal heard of. At most one of an old key is `followed`: its new key holds the place that the
 * old one had. Another one beside it stops sending. None: it is to be followed yet (our own account).
 */
export const renewal = sqliteTable(
  "renewal",
  {
    oldAik: text().notNull(),
    newAik: text().notNull(),
    record: bytes().notNull(),
    followed: flag().notNull(),
    heardMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.oldAik, table.newAik] })],
);

/**
 * This device's certificate under keys of its account other than the present one: earlier ones, under
 * which it still says that they were renewed, and the one to come. `aikSeed`: the key itself, if given.
 */
export const otherCertificate = sqliteTable("other_certificate", {
  aik: text().primaryKey(),
  certificate: bytes().notNull(),
  aikSeed: bytes(),
});
