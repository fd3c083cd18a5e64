/**
 * Devices and their signed lists: who may connect, and how a newer list replaces the current one.
 *
 * The update is one statement: compare-and-set on (version, hash), new mailboxes, used ids, and the
 * end of revoked devices' mailboxes. Spec: docs/protocol.md "Device list", "Removal".
 */
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
} from "../../shared/crypto/device-list.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { BodyRelease } from "./acknowledgements.ts";
import { deviceListStatement } from "./device-list-statement.ts";
import { isUniqueViolation } from "./failure.ts";
import type { MailboxHold } from "./mailboxes.ts";
import { arrayLiteral, asBuffer, idOf, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

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

/** What the update left to do. */
export interface ListUpdated {
  /** Mailboxes that no longer exist. */
  readonly dropped: readonly string[];
  readonly released: readonly BodyRelease[];
}

/** `displaced`: a newer connection of this device exists. `conflict`: a used id, or the list is no longer the newest. */
export type ListUpdateError = { readonly type: "displaced" | "conflict" };

interface UpdateRow {
  readonly kind: "owner" | "head" | "dropped" | "body";
  readonly id: string | null;
  readonly day: number | null;
  readonly items: number | null;
}

/** Replaces `known`, which the caller read and verified, by its successor `next`. */
export async function replaceDeviceList(
  sql: Sql,
  hold: MailboxHold & { readonly account: string },
  known: DeviceList,
  next: DeviceList,
): Promise<Result<ListUpdated, ListUpdateError>> {
  try {
    const rows = await sql.unsafe<UpdateRow[]>(
      deviceListStatement,
      listParameters(hold, known, next),
      {
        prepare: true,
      },
    );
    return updatedOf(rows);
  } catch (cause) {
    if (isUniqueViolation(cause)) return err({ type: "conflict" });
    throw cause;
  }
}

type Parameter = string | number | Buffer;

/** In the order that the statement numbers them. */
function listParameters(
  hold: MailboxHold & { readonly account: string },
  known: DeviceList,
  next: DeviceList,
): Parameter[] {
  const added = next.entries.filter((entry) => entryOf(known, entry.deviceId) === undefined);
  const opened = added.filter((entry) => entry.state !== deviceState.revoked);
  const revoked = next.entries.filter((entry) => entry.state === deviceState.revoked);
  const used = added.flatMap((entry) => [
    { id: uuidOfBytes(entry.deviceId), kind: "device" },
    { id: uuidOfBytes(entry.mailbox), kind: "mailbox" },
  ]);
  return [
    hold.lane,
    uuidOf(hold.mailbox),
    hold.session,
    uuidOf(hold.account),
    asBuffer(next.aik),
    next.version,
    asBuffer(next.hash),
    asBuffer(next.record),
    known.version,
    asBuffer(known.hash),
    uuids(next.entries, "deviceId"),
    arrayLiteral(next.entries.map((entry) => asBuffer(entry.dsk).toString("hex"))),
    uuids(next.entries, "mailbox"),
    arrayLiteral(next.entries.map((entry) => entry.state)),
    arrayLiteral(used.map((each) => each.id)),
    arrayLiteral(used.map((each) => each.kind)),
    uuids(opened, "mailbox"),
    uuids(opened, "deviceId"),
    uuids(revoked, "mailbox"),
    uuids(revoked, "deviceId"),
  ];
}

function uuids(entries: readonly DeviceEntry[], field: "deviceId" | "mailbox"): string {
  return arrayLiteral(entries.map((entry) => uuidOfBytes(entry[field])));
}

function updatedOf(rows: readonly UpdateRow[]): Result<ListUpdated, ListUpdateError> {
  if (!rows.some((row) => row.kind === "owner")) return err({ type: "displaced" });
  if (!rows.some((row) => row.kind === "head")) return err({ type: "conflict" });
  return ok({
    dropped: rows.flatMap((row) =>
      row.kind === "dropped" && row.id !== null ? [idOf(row.id)] : [],
    ),
    released: rows.flatMap(({ kind, id, day, items }) =>
      kind === "body" && id !== null && day !== null && items !== null
        ? [{ day, bodyId: idOf(id), items }]
        : [],
    ),
  });
}
