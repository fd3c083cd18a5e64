/**
 * How a device list replaces the current one: by a device on the connection that holds its mailbox, or
 * by the identity key itself, which recovers an account or hands it to a new key.
 *
 * Each is one statement (device-list-statement.ts). Signatures and succession were verified before.
 * Spec: docs/protocol.md "Device list", "Removal", "Recovery", "Renewal".
 */
import {
  type DeviceEntry,
  type DeviceList,
  deviceState,
  entryOf,
} from "../../shared/crypto/device-list.ts";
import { clampU64 } from "../../shared/bytes.ts";
import type { Prekey } from "../../shared/crypto/prekey.ts";
import type { Renewal } from "../../shared/crypto/renewal.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { BodyRelease } from "./acknowledgements.ts";
import { deviceListStatement } from "./device-list-statement.ts";
import { isUniqueViolation } from "./failure.ts";
import type { MailboxHold } from "./mailboxes.ts";
import { arrayLiteral, asBuffer, idOf, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

/** What the update left to do. */
export interface ListUpdated {
  /** Mailboxes that no longer exist. */
  readonly dropped: readonly string[];
  readonly released: readonly BodyRelease[];
}

/** `displaced`: a newer connection of this device exists. `conflict`: a used id or key, or the list is no longer the newest. */
export type ListUpdateError = { readonly type: "displaced" | "conflict" };

/** The account that signs for itself, and its lane. */
export interface SigningAccount {
  readonly account: string;
  readonly lane: number;
}

/** What a list change rests on, beside the list that is known. */
interface ListChange {
  readonly known: DeviceList;
  readonly next: DeviceList;
  readonly renewal?: Renewal;
  readonly prekey?: Prekey;
  readonly accessKey?: Uint8Array;
  readonly nowMs: number;
}

/** Replaces `known`, which the caller read and verified, by its successor `next`. */
export function replaceDeviceList(
  sql: Sql,
  hold: MailboxHold & { readonly account: string },
  known: DeviceList,
  next: DeviceList,
): Promise<Result<ListUpdated, ListUpdateError>> {
  return changeList(sql, hold, { known, next, nowMs: 0 });
}

/** Replaces the list by one with a new device, opens its door to senders, and rotates the access key. */
export function recoverAccount(
  sql: Sql,
  account: SigningAccount,
  change: ListChange & { readonly prekey: Prekey; readonly accessKey: Uint8Array },
): Promise<Result<ListUpdated, ListUpdateError>> {
  return changeList(sql, account, change);
}

/** Hands the account to a new identity key; prekeys signed under the old one go. */
export function renewAccount(
  sql: Sql,
  account: SigningAccount,
  change: ListChange & { readonly renewal: Renewal },
): Promise<Result<ListUpdated, ListUpdateError>> {
  return changeList(sql, account, change);
}

interface UpdateRow {
  readonly kind: "owner" | "head" | "dropped" | "body";
  readonly id: string | null;
  readonly day: number | null;
  readonly items: number | null;
}

type Authority = SigningAccount & Partial<MailboxHold>;

async function changeList(
  sql: Sql,
  authority: Authority,
  change: ListChange,
): Promise<Result<ListUpdated, ListUpdateError>> {
  try {
    const parameters = [
      ...listParameters(authority, change),
      ...extraParameters(authority, change),
    ];
    const rows = await sql.unsafe<UpdateRow[]>(deviceListStatement, parameters, { prepare: true });
    return updatedOf(rows);
  } catch (cause) {
    if (isUniqueViolation(cause)) return err({ type: "conflict" });
    throw cause;
  }
}

type Parameter = string | number | boolean | Buffer | null;

/** In the order that the statement numbers them. */
function listParameters(by: Authority, { known, next }: ListChange): Parameter[] {
  const added = next.entries.filter((entry) => entryOf(known, entry.deviceId) === undefined);
  const opened = added.filter((entry) => entry.state !== deviceState.revoked);
  const entries = [...next.entries, ...leftOut(known, next)];
  const revoked = entries.filter((entry) => entry.state === deviceState.revoked);
  const used = added.flatMap((entry) => [
    { id: uuidOfBytes(entry.deviceId), kind: "device" },
    { id: uuidOfBytes(entry.mailbox), kind: "mailbox" },
  ]);
  return [
    by.lane,
    by.mailbox === undefined ? null : uuidOf(by.mailbox),
    by.session ?? null,
    uuidOf(by.account),
    asBuffer(next.aik),
    next.version,
    asBuffer(next.hash),
    asBuffer(next.record),
    known.version,
    asBuffer(known.hash),
    uuids(entries, "deviceId"),
    arrayLiteral(entries.map((entry) => asBuffer(entry.dsk).toString("hex"))),
    uuids(entries, "mailbox"),
    arrayLiteral(entries.map((entry) => entry.state)),
    arrayLiteral(used.map((each) => each.id)),
    arrayLiteral(used.map((each) => each.kind)),
    uuids(opened, "mailbox"),
    uuids(opened, "deviceId"),
    uuids(revoked, "mailbox"),
    uuids(revoked, "deviceId"),
  ];
}

function extraParameters(by: Authority, change: ListChange): Parameter[] {
  const { known, renewal, prekey, accessKey, nowMs } = change;
  return [
    asBuffer(known.aik),
    by.session === undefined,
    renewal === undefined ? null : asBuffer(renewal.record),
    prekey === undefined ? null : uuidOfBytes(prekey.deviceId),
    prekey === undefined ? null : clampU64(prekey.notBeforeMs),
    prekey === undefined ? null : asBuffer(prekey.record),
    accessKey === undefined ? null : asBuffer(accessKey),
    nowMs,
  ];
}

/** Devices that a list leaves out are gone: long revoked ones, and whoever a renewal does not name. */
function leftOut(known: DeviceList, next: DeviceList): readonly DeviceEntry[] {
  return known.entries
    .filter((entry) => entryOf(next, entry.deviceId) === undefined)
    .map((entry) => ({ ...entry, state: deviceState.revoked }));
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
