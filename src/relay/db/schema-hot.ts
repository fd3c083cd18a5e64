/**
 * The two partitioned tables, for types only: drizzle cannot express partitions, so their SQL is
 * written by hand in migrations/relay, and drizzle-kit never reads this file.
 *
 * Both are partitioned by `day`, the first two bytes of the slot: uniqueness of a slot then holds
 * inside one partition, and expiry is dropping a partition. No identity, trigger or foreign key.
 */
import {
  integer,
  pgTable,
  primaryKey,
  smallint,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";

import { bytea, int8 } from "./columns.ts";

/** A body shared by two or more recipient devices. Its id derives from the slot. */
export const body = pgTable(
  "body",
  {
    lane: integer("lane").notNull(),
    day: integer("day").notNull(),
    bodyId: uuid("body_id").notNull(),
    /** Items that still need it; the row goes when this reaches 0. */
    pending: integer("pending").notNull(),
    body: bytea("body").notNull(),
  },
  (table) => [primaryKey({ columns: [table.lane, table.day, table.bodyId] })],
);

/** One envelope for one recipient device. An acknowledged row stays, emptied, so its slot is known. */
export const item = pgTable(
  "item",
  {
    lane: integer("lane").notNull(),
    day: integer("day").notNull(),
    mailbox: uuid("mailbox").notNull(),
    seq: int8("seq").notNull(),
    slot: uuid("slot").notNull(),
    /** 0 … 4, as on the wire. */
    bucket: smallint("bucket").notNull(),
    /** 0 current access key, 1 invite key, 2 retired access key: which count it returns to. */
    source: smallint("source").notNull().default(0),
    /** Null once acknowledged. */
    header: bytea("header"),
    /** Null when shared, or once acknowledged. */
    body: bytea("body"),
    bodyId: uuid("body_id"),
    acked: timestamp("acked", { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.lane, table.mailbox, table.day, table.seq] }),
    unique("item_slot").on(table.lane, table.mailbox, table.day, table.slot),
  ],
);
