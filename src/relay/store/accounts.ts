/**
 * Accounts: registration, and what the relay must know of a recipient to judge a token.
 *
 * Each operation is one statement; that ids are used once, for ever and across accounts, is a unique
 * key that aborts the whole statement. Spec: docs/protocol.md "Registration", "Tokens".
 */
import type { DeviceList } from "../../shared/crypto/device-list.ts";
import type { Prekey } from "../../shared/crypto/prekey.ts";
import { clampU64 } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { isUniqueViolation } from "./failure.ts";
import { arrayLiteral, asBuffer, idOf, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

/** An account as it registers: verified list version 1 of one device, that device's first prekey. */
export interface NewAccount {
  readonly account: string;
  readonly lane: number;
  readonly list: DeviceList;
  readonly prekey: Prekey;
  readonly accessKey: Uint8Array;
}

/** Stores a new account. Repeating the very same registration succeeds again; a used id is `conflict`. */
export async function registerAccount(
  sql: Sql,
  { account, lane, list, prekey, accessKey }: NewAccount,
  nowMs: number,
): Promise<Result<void, { readonly type: "conflict" }>> {
  const [entry] = list.entries;
  if (entry === undefined) throw new Error("a device list without a device was verified");
  const ids = {
    account: uuidOf(account),
    device: uuidOfBytes(entry.deviceId),
    mailbox: uuidOfBytes(entry.mailbox),
  };
  try {
    await sql`
with used as (
  insert into used_id (id, kind) values (${ids.account}, 'account'), (${ids.device}, 'device'), (${ids.mailbox}, 'mailbox')
),
new_account as (
  insert into account (account, aik, created_at_ms, list_version, list_hash)
  values (${ids.account}, ${asBuffer(list.aik)}, ${nowMs}, ${list.version}, ${asBuffer(list.hash)})
),
new_list as (
  insert into device_list (account, aik, version, hash, record)
  values (${ids.account}, ${asBuffer(list.aik)}, ${list.version}, ${asBuffer(list.hash)}, ${asBuffer(list.record)})
),
new_device as (
  insert into device (device_id, account, dsk, mailbox, state)
  values (${ids.device}, ${ids.account}, ${asBuffer(entry.dsk)}, ${ids.mailbox}, ${entry.state})
),
new_prekey as (
  insert into prekey (device_id, account, not_before_ms, record, received_at_ms)
  values (${ids.device}, ${ids.account}, ${clampU64(prekey.notBeforeMs)}, ${asBuffer(prekey.record)}, ${nowMs})
),
new_key as (
  insert into access_key (account, generation, key, created_at_ms) values (${ids.account}, 1, ${asBuffer(accessKey)}, ${nowMs})
)
insert into mailbox (lane, mailbox, account, device_id) values (${lane}, ${ids.mailbox}, ${ids.account}, ${ids.device})`;
    return ok(undefined);
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
  }
  // The reply to a first attempt may have been lost: the same registration is success, not a conflict.
  const [same] = await sql`
    select 1 from account a
    join access_key k on k.account = a.account and k.generation = 1 and k.key = ${asBuffer(accessKey)}
    join device_list l on l.account = a.account and l.version = 1 and l.hash = ${asBuffer(list.hash)}
    join prekey p on p.account = a.account and p.device_id = ${ids.device}
    where a.account = ${ids.account} and a.aik = ${asBuffer(list.aik)}`;
  return same === undefined ? err({ type: "conflict" }) : ok(undefined);
}

/** An invite key that may still be tried. */
export interface OpenInvite {
  readonly invite: string;
  readonly key: Uint8Array;
}

/** What decides whether an upload may enter. */
export interface Recipient {
  readonly account: string;
  readonly accessKey: Uint8Array;
  readonly invites: readonly OpenInvite[];
  /** Mailboxes of devices not revoked. */
  readonly mailboxes: readonly { readonly mailbox: string; readonly hasPrekey: boolean }[];
}

interface RecipientRow {
  readonly account: string;
  readonly accessKey: Uint8Array;
  readonly invites: string | null;
  readonly mailboxes: string | null;
}

/** The recipients among `accounts` that exist. Units: invites must expire after `nowMs`. */
export async function findRecipients(
  sql: Sql,
  accounts: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, Recipient>> {
  const rows = await sql<RecipientRow[]>`
select k.account::text as account, k.key as "accessKey",
  (select string_agg(i.invite::text || ' ' || encode(i.key, 'hex'), ',') from invite_key i
    where i.account = k.account and i.revoked_at_ms is null and i.expires_at_ms > ${nowMs}) as invites,
  (select string_agg(d.mailbox::text || case when p.device_id is null then ' 0' else ' 1' end, ',')
    from device d left join prekey p on p.device_id = d.device_id
    where d.account = k.account and d.state < 2) as mailboxes
from access_key k
where k.account = any(${arrayLiteral(accounts.map(uuidOf))}::uuid[]) and k.retired_at_ms is null`;
  return new Map(rows.map((row) => [idOf(row.account), recipientOf(row)]));
}

function recipientOf(row: RecipientRow): Recipient {
  return {
    account: idOf(row.account),
    accessKey: row.accessKey,
    invites: pairsOf(row.invites).map(([invite, key]) => ({
      invite: idOf(invite),
      key: Buffer.from(key, "hex"),
    })),
    mailboxes: pairsOf(row.mailboxes).map(([mailbox, flag]) => ({
      mailbox: idOf(mailbox),
      hasPrekey: flag === "1",
    })),
  };
}

function pairsOf(text: string | null): [string, string][] {
  return (text ?? "").split(",").flatMap((pair): [string, string][] => {
    const [first, second] = pair.split(" ");
    return first === undefined || second === undefined ? [] : [[first, second]];
  });
}

/** A bundle: lists above a version, oldest first (the newest if there is none), and prekeys. */
export interface Bundle {
  readonly lists: readonly Uint8Array[];
  readonly prekeys: readonly Uint8Array[];
}

/** Reads the bundle of an account. */
export async function readBundle(sql: Sql, account: string, since: number): Promise<Bundle> {
  const id = uuidOf(account);
  const rows = await sql<{ kind: "list" | "prekey"; version: number; record: Uint8Array }[]>`
select 'list' as kind, l.version, l.record from account a
join device_list l on l.account = a.account and l.aik = a.aik and (l.version > ${since} or l.version = a.list_version)
where a.account = ${id}
union all
select 'prekey', 0, p.record from device d join prekey p on p.device_id = d.device_id
where d.account = ${id} and d.state < 2`;
  const lists = rows.filter((row) => row.kind === "list");
  return {
    lists: lists.toSorted((a, b) => a.version - b.version).map((row) => row.record),
    prekeys: rows.filter((row) => row.kind === "prekey").map((row) => row.record),
  };
}
