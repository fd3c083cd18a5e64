/**
 * Rows about ourselves: the account, this device, and the private halves of its prekeys.
 *
 * Secrets leave this file only towards identity, crypto and messaging; nothing here is logged.
 */
import { asc, eq, isNotNull, sql } from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { ownAccount, ownDevice, ownPrekey } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type OwnAccountRow = typeof ownAccount.$inferSelect;
export type OwnDeviceRow = typeof ownDevice.$inferSelect;
export type OwnPrekeyRow = typeof ownPrekey.$inferSelect;

/** The account of this device; `undefined` until it is registered or linked. */
export function getOwnAccount(tx: ReadTx): OwnAccountRow | undefined {
  return theAccount(tx).get();
}
const theAccount = preparedOn((tx) => tx.select().from(ownAccount).prepare());

/** Stores the account, replacing the one row there is. */
export function putOwnAccount(tx: WriteTx, row: OwnAccountRow): void {
  tx.delete(ownAccount).run();
  tx.insert(ownAccount).values(row).run();
}

/** This device; `undefined` until it has keys. */
export function getOwnDevice(tx: ReadTx): OwnDeviceRow | undefined {
  return theDevice(tx).get();
}
const theDevice = preparedOn((tx) => tx.select().from(ownDevice).prepare());

/** Stores this device, replacing the one row there is. */
export function putOwnDevice(tx: WriteTx, row: OwnDeviceRow): void {
  tx.delete(ownDevice).run();
  tx.insert(ownDevice).values(row).run();
}

/** Keeps the private half of a new prekey. */
export function addOwnPrekey(tx: WriteTx, row: OwnPrekeyRow): void {
  tx.insert(ownPrekey).values(row).run();
}

/** The prekey with that id (first 8 bytes of the hash of its public key), if it is still held. */
export function ownPrekeyById(tx: ReadTx, prekeyId: string): OwnPrekeyRow | undefined {
  return prekeyById(tx).get({ prekeyId });
}
const prekeyById = preparedOn((tx) =>
  tx
    .select()
    .from(ownPrekey)
    .where(eq(ownPrekey.prekeyId, sql.placeholder("prekeyId")))
    .prepare(),
);

/** All prekeys still held, oldest first. */
export function ownPrekeys(tx: ReadTx): readonly OwnPrekeyRow[] {
  return tx.select().from(ownPrekey).orderBy(asc(ownPrekey.notBeforeMs)).all();
}

/** Notes that the relay has this prekey, and that it supersedes every earlier one from now on. */
export function markPrekeyPublished(tx: WriteTx, prekeyId: string, nowMs: number): void {
  const published = ownPrekeys(tx).filter(
    (row) => row.publishedMs !== null && row.supersededMs === null && row.prekeyId !== prekeyId,
  );
  for (const row of published) {
    tx.update(ownPrekey)
      .set({ supersededMs: nowMs })
      .where(eq(ownPrekey.prekeyId, row.prekeyId))
      .run();
  }
  tx.update(ownPrekey)
    .set({ publishedMs: nowMs, supersededMs: null })
    .where(eq(ownPrekey.prekeyId, prekeyId))
    .run();
}

/** The prekey that others are told now, if one was ever published. */
export function currentOwnPrekey(tx: ReadTx): OwnPrekeyRow | undefined {
  return tx
    .select()
    .from(ownPrekey)
    .where(isNotNull(ownPrekey.publishedMs))
    .orderBy(asc(ownPrekey.notBeforeMs))
    .all()
    .at(-1);
}

/** Destroys a private half (the file is overwritten: secure_delete). */
export function deleteOwnPrekey(tx: WriteTx, prekeyId: string): void {
  tx.delete(ownPrekey).where(eq(ownPrekey.prekeyId, prekeyId)).run();
}
