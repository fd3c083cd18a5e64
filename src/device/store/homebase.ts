/**
 * Rows of the homebase's ledger. Which state follows which is decided in homebase/.
 *
 * Bound: the newest 5,000 operations that ended; a further one drops the oldest that ended.
 */
import { and, asc, count, desc, eq, inArray, lte, notInArray } from "drizzle-orm";

import { homebaseOp } from "./homebase-tables.ts";
import { getSetting, putSetting } from "./settings.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type HomebaseRow = typeof homebaseOp.$inferSelect;
/** How far an operation is. `dead`: given up after several attempts. */
export type HomebaseState = HomebaseRow["state"];
/** Names an operation: an id belongs to the device that drew it. */
export type HomebaseKey = Pick<HomebaseRow, "direction" | "peerDevice" | "opId">;

/** States in which something is still to come. */
export const openStates: readonly HomebaseState[] = ["waiting", "accepted", "running"];
/** Operations that ended and are remembered. */
const keptOps = 5_000;

/** Journals an operation. Returns false when that id is there already. */
export function addHomebaseOp(tx: WriteTx, op: Omit<HomebaseRow, "row">): boolean {
  const added = tx.insert(homebaseOp).values(op).onConflictDoNothing().run();
  if (added.changes === 0) return false;
  tx.delete(homebaseOp)
    .where(
      and(
        lte(homebaseOp.row, Number(added.lastInsertRowid) - keptOps),
        notInArray(homebaseOp.state, [...openStates]),
      ),
    )
    .run();
  return true;
}

/** The row of an operation. */
export function homebaseOpOf(tx: ReadTx, key: HomebaseKey): HomebaseRow | undefined {
  return tx.select().from(homebaseOp).where(byKey(key)).get();
}

/** Changes what is known of an operation. */
export function updateHomebaseOp(
  tx: WriteTx,
  row: number,
  change: Partial<Pick<HomebaseRow, "state" | "attempts" | "nextMs" | "reply">>,
): void {
  tx.update(homebaseOp).set(change).where(eq(homebaseOp.row, row)).run();
}

/** Operations in those states, oldest first. */
export function homebaseOpsIn(
  tx: ReadTx,
  direction: HomebaseRow["direction"],
  states: readonly HomebaseState[],
): readonly HomebaseRow[] {
  return tx
    .select()
    .from(homebaseOp)
    .where(and(eq(homebaseOp.direction, direction), inArray(homebaseOp.state, [...states])))
    .orderBy(asc(homebaseOp.row))
    .all();
}

/** Operations asked of this device that are not over. */
export function countOpenHomebaseOps(tx: ReadTx): number {
  return (
    tx
      .select({ total: count() })
      .from(homebaseOp)
      .where(and(eq(homebaseOp.direction, "in"), inArray(homebaseOp.state, [...openStates])))
      .get()?.total ?? 0
  );
}

/** The newest operations, oldest of them first. */
export function listHomebaseOps(tx: ReadTx, last: number): readonly HomebaseRow[] {
  return tx.select().from(homebaseOp).orderBy(desc(homebaseOp.row)).limit(last).all().toReversed();
}

const foreignSetting = "homebase-foreign";

/** Texts of other people that look like an operation, and acted as none. */
export function foreignHomebaseTexts(tx: ReadTx): number {
  return Number(getSetting(tx, foreignSetting) ?? "0");
}

/** Counts one more of them. */
export function countForeignHomebaseText(tx: WriteTx): void {
  putSetting(tx, foreignSetting, String(foreignHomebaseTexts(tx) + 1));
}

function byKey({ direction, peerDevice, opId }: HomebaseKey): ReturnType<typeof and> {
  return and(
    eq(homebaseOp.direction, direction),
    eq(homebaseOp.peerDevice, peerDevice),
    eq(homebaseOp.opId, opId),
  );
}
