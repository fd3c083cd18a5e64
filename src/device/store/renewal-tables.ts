/**
 * Table of renewals: which identity key took over from which, of other people and of ourselves.
 *
 * Part of schema.ts, from which migrations are generated. Spec: docs/protocol.md "Renewal of an account".
 */
import { customType, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

const bytes = customType<{ data: Uint8Array; driverData: Buffer }>({
  dataType: () => "blob",
  toDriver: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  fromDriver: (value) => new Uint8Array(value),
});

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
    followed: integer({ mode: "boolean" }).notNull(),
    heardMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.oldAik, table.newAik] })],
);
