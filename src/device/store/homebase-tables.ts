/**
 * Tables of the homebase: what own devices asked of each other, and what they are called.
 *
 * Part of schema.ts, from which migrations are generated.
 */
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * The ledger of operations, both ways: journalled before anything is done, so that one id acts once,
 * in whatever order and however often it arrives.
 */
export const homebaseOp = sqliteTable(
  "homebase_op",
  {
    row: integer().primaryKey({ autoIncrement: true }),
    /** `in`: asked of this device; `out`: asked by it. */
    direction: text({ enum: ["in", "out"] }).notNull(),
    opId: text().notNull(),
    /** The device that asked, or that was asked. */
    peerDevice: text().notNull(),
    op: text().notNull(),
    /** JSON. */
    args: text().notNull(),
    /** Relay time: as the asker says, and when it arrived here. */
    sentMs: integer().notNull(),
    arrivedMs: integer().notNull(),
    state: text({
      enum: [
        "waiting",
        "accepted",
        "running",
        "done",
        "failed",
        "refused",
        "expired",
        "interrupted",
        "cancelled",
        "dead",
      ],
    }).notNull(),
    attempts: integer().notNull(),
    /** Not worked on before this, on this device's clock. */
    nextMs: integer().notNull(),
    /** JSON of the last reply, sent or received. */
    reply: text(),
  },
  (table) => [
    uniqueIndex("homebase_op_id").on(table.direction, table.peerDevice, table.opId),
    index("homebase_op_state").on(table.direction, table.state),
  ],
);

/** Names of the account's other devices, as they call themselves. */
export const deviceName = sqliteTable("device_name", {
  deviceId: text().primaryKey(),
  name: text().notNull(),
});
