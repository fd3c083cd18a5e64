/**
 * Devices: who may connect, and the newest signed list of an account. How a list is replaced is
 * device-lists.ts. Spec: docs/protocol.md "Device list".
 */
import { deviceState } from "../../shared/crypto/device-list.ts";
import { asBuffer, idOf, type Sql, uuidOf } from "./sql-values.ts";

/** A device that may connect. */
export interface KnownDevice {
  readonly deviceId: string;
  readonly account: string;
  readonly aik: Uint8Array;
  readonly dsk: Uint8Array;
  readonly mailbox: string;
}

/** Finds a device that is not revoked. */
export async function findDevice(sql: Sql, deviceId: string): Promise<KnownDevice | undefined> {
  const [row] = await sql<{ account: string; aik: Uint8Array; dsk: Uint8Array; mailbox: string }[]>`
    select d.account::text as account, a.aik, d.dsk, d.mailbox::text as mailbox
    from device d join account a on a.account = d.account
    where d.device_id = ${uuidOf(deviceId)} and d.state < ${deviceState.revoked}`;
  return (
    row && {
      deviceId,
      account: idOf(row.account),
      aik: row.aik,
      dsk: row.dsk,
      mailbox: idOf(row.mailbox),
    }
  );
}

/** The record of an account's newest list. */
export async function newestListRecord(sql: Sql, account: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ record: Uint8Array }[]>`
    select l.record from account a
    join device_list l on l.account = a.account and l.aik = a.aik and l.version = a.list_version
    where a.account = ${uuidOf(account)}`;
  return row?.record;
}

/** The account that an identity key signs for now; a renewed key signs for none. */
export async function accountOfKey(sql: Sql, aik: Uint8Array): Promise<string | undefined> {
  const [row] = await sql<{ account: string }[]>`
    select account::text as account from account where aik = ${asBuffer(aik)}`;
  return row && idOf(row.account);
}

/** The records of an account's chain under its current identity key, oldest first. */
export async function listChain(sql: Sql, account: string): Promise<readonly Uint8Array[]> {
  const rows = await sql<{ record: Uint8Array }[]>`
    select l.record from account a join device_list l on l.account = a.account and l.aik = a.aik
    where a.account = ${uuidOf(account)} order by l.version`;
  return rows.map((row) => row.record);
}
