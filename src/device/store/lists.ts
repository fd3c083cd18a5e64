/**
 * Rows about accounts, ours included: the chain of device lists, the newest prekey per device, and
 * when both were last fetched. Records are kept as they came; identity verifies before it stores.
 */
import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import { preparedOn } from "./prepared.ts";
import { bundleFetch, deviceList, peerPrekey, rivalList } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

export type DeviceListRow = typeof deviceList.$inferSelect;
export type RivalListRow = typeof rivalList.$inferSelect;
export type PeerPrekeyRow = typeof peerPrekey.$inferSelect;

/** Keeps one version of an account's list. A version that is there already stays as it is. */
export function addDeviceList(tx: WriteTx, row: DeviceListRow): void {
  tx.insert(deviceList).values(row).onConflictDoNothing().run();
}

/** The newest list of an account. */
export function newestDeviceList(tx: ReadTx, aik: string): DeviceListRow | undefined {
  return newestByAik(tx).get({ aik });
}
const newestByAik = preparedOn((tx) =>
  tx
    .select()
    .from(deviceList)
    .where(eq(deviceList.aik, sql.placeholder("aik")))
    .orderBy(desc(deviceList.version))
    .limit(1)
    .prepare(),
);

/** One version of an account's list. */
export function deviceListAt(tx: ReadTx, aik: string, version: number): DeviceListRow | undefined {
  return listByVersion(tx).get({ aik, version });
}
const listByVersion = preparedOn((tx) =>
  tx
    .select()
    .from(deviceList)
    .where(
      and(
        eq(deviceList.aik, sql.placeholder("aik")),
        eq(deviceList.version, sql.placeholder("version")),
      ),
    )
    .prepare(),
);

/** The versions of an account's list above `since`, oldest first. */
export function deviceListsAbove(tx: ReadTx, aik: string, since: number): readonly DeviceListRow[] {
  return tx
    .select()
    .from(deviceList)
    .where(and(eq(deviceList.aik, aik), gt(deviceList.version, since)))
    .orderBy(asc(deviceList.version))
    .all();
}

/** Keeps a list that contradicts the chain. One that is there already stays as it is. */
export function addRivalList(tx: WriteTx, row: RivalListRow): void {
  tx.insert(rivalList).values(row).onConflictDoNothing().run();
}

/** Lists that contradict the chain of an account. */
export function rivalLists(tx: ReadTx, aik: string): readonly RivalListRow[] {
  return rivalsByAik(tx).all({ aik });
}
const rivalsByAik = preparedOn((tx) =>
  tx
    .select()
    .from(rivalList)
    .where(eq(rivalList.aik, sql.placeholder("aik")))
    .prepare(),
);

/** Forgets everything known about an account's devices: a new invite in person starts it anew. */
export function forgetLists(tx: WriteTx, aik: string): void {
  tx.delete(deviceList).where(eq(deviceList.aik, aik)).run();
  tx.delete(rivalList).where(eq(rivalList.aik, aik)).run();
  tx.delete(peerPrekey).where(eq(peerPrekey.aik, aik)).run();
  tx.delete(bundleFetch).where(eq(bundleFetch.aik, aik)).run();
}

/** Keeps the newest prekey of a device, replacing the one before. */
export function putPeerPrekey(tx: WriteTx, row: PeerPrekeyRow): void {
  tx.insert(peerPrekey)
    .values(row)
    .onConflictDoUpdate({
      target: [peerPrekey.aik, peerPrekey.deviceId],
      set: { notBeforeMs: row.notBeforeMs, record: row.record },
    })
    .run();
}

/** The newest prekey of one device. */
export function peerPrekeyOf(tx: ReadTx, aik: string, deviceId: string): PeerPrekeyRow | undefined {
  return tx
    .select()
    .from(peerPrekey)
    .where(and(eq(peerPrekey.aik, aik), eq(peerPrekey.deviceId, deviceId)))
    .get();
}

/** The newest prekeys of an account's devices, revoked ones included. */
export function peerPrekeys(tx: ReadTx, aik: string): readonly PeerPrekeyRow[] {
  return tx.select().from(peerPrekey).where(eq(peerPrekey.aik, aik)).all();
}

/** Notes that an account's bundle was fetched. */
export function markBundleFetched(tx: WriteTx, aik: string, fetchedMs: number): void {
  tx.insert(bundleFetch)
    .values({ aik, fetchedMs })
    .onConflictDoUpdate({ target: bundleFetch.aik, set: { fetchedMs } })
    .run();
}

/** Forgets that an account's bundle is fresh: the relay knows better. */
export function markBundleStale(tx: WriteTx, aik: string): void {
  tx.delete(bundleFetch).where(eq(bundleFetch.aik, aik)).run();
}

/** When an account's bundle was last fetched. */
export function bundleFetchedMs(tx: ReadTx, aik: string): number | undefined {
  return tx.select().from(bundleFetch).where(eq(bundleFetch.aik, aik)).get()?.fetchedMs;
}
