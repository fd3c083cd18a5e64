/**
 * Accounts: registration, and what the relay must know of a recipient to judge a token.
 *
 * Each operation is one statement; that ids are used once, for ever and across accounts, is a unique
 * key that aborts the whole statement. Spec: docs/protocol.md "Registration", "Tokens".
 */
import type { DeviceList } from "../../shared/crypto/device-list.ts";
import type { Prekey } from "../../shared/crypto/prekey.ts";
import { clampU64 } from "../../shared/bytes.ts";
import { maxRetiredKeys, retiredKeyMs } from "../../shared/limits.ts";
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
  /** Hash of the code that has to let it in; undefined where anybody may register. */
  readonly codeHash?: Uint8Array | undefined;
}

/** `conflict`: a used id or key. `closed`: the code is unknown, used up, expired or revoked. */
export type RegisterError = { readonly type: "conflict" | "closed" };

/** Stores a new account. Repeating the very same registration succeeds again, and uses no code up. */
export async function registerAccount(
  sql: Sql,
  { account, lane, list, prekey, accessKey, codeHash }: NewAccount,
  nowMs: number,
): Promise<Result<void, RegisterError>> {
  const [entry] = list.entries;
  if (entry === undefined) throw new Error("a device list without a device was verified");
  const ids = {
    account: uuidOf(account),
    device: uuidOfBytes(entry.deviceId),
    mailbox: uuidOfBytes(entry.mailbox),
  };
  const codeText = codeHash === undefined ? null : asBuffer(codeHash).toString("hex");
  let failure: RegisterError["type"] = "closed";
  try {
    const stored = await sql`
with code as (
  update registration_code set used = used + 1
  where hash = decode(${codeText}::text, 'hex') and used < uses and revoked_at_ms is null and expires_at_ms > ${nowMs}
  returning id
),
door as materialized (
  select 1 from code union all select 1 where ${codeText}::text is null
),
used as (
  insert into used_id (id, kind) select x.id, x.kind from door,
    (values (${ids.account}::uuid, 'account'), (${ids.device}::uuid, 'device'), (${ids.mailbox}::uuid, 'mailbox')) as x(id, kind)
),
new_account as (
  insert into account (account, aik, created_at_ms, list_version, list_hash)
  select ${ids.account}::uuid, ${asBuffer(list.aik)}::bytea, ${nowMs}::bigint, ${list.version}::bigint, ${asBuffer(list.hash)}::bytea from door
),
new_list as (
  insert into device_list (account, aik, version, hash, record)
  select ${ids.account}::uuid, ${asBuffer(list.aik)}::bytea, ${list.version}::bigint, ${asBuffer(list.hash)}::bytea, ${asBuffer(list.record)}::bytea from door
),
new_device as (
  insert into device (device_id, account, dsk, mailbox, state)
  select ${ids.device}::uuid, ${ids.account}::uuid, ${asBuffer(entry.dsk)}::bytea, ${ids.mailbox}::uuid, ${entry.state}::smallint from door
),
new_prekey as (
  insert into prekey (device_id, account, not_before_ms, record, received_at_ms)
  select ${ids.device}::uuid, ${ids.account}::uuid, ${clampU64(prekey.notBeforeMs)}::bigint, ${asBuffer(prekey.record)}::bytea, ${nowMs}::bigint from door
),
new_key as (
  insert into access_key (account, generation, key, created_at_ms)
  select ${ids.account}::uuid, 1, ${asBuffer(accessKey)}::bytea, ${nowMs}::bigint from door
)
insert into mailbox (lane, mailbox, account, device_id)
select ${lane}::int, ${ids.mailbox}::uuid, ${ids.account}::uuid, ${ids.device}::uuid from door returning mailbox`;
    if (stored.length > 0) return ok(undefined);
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    failure = "conflict";
  }
  // The reply to a first attempt may have been lost: the same registration is success.
  return (await isRegistered(sql, { account, list, accessKey }, ids.device))
    ? ok(undefined)
    : err({ type: failure });
}

async function isRegistered(
  sql: Sql,
  { account, list, accessKey }: Pick<NewAccount, "account" | "list" | "accessKey">,
  device: string,
): Promise<boolean> {
  const [same] = await sql`
    select 1 from account a
    join access_key k on k.account = a.account and k.generation = 1 and k.key = ${asBuffer(accessKey)}
    join device_list l on l.account = a.account and l.version = 1 and l.hash = ${asBuffer(list.hash)}
    join prekey p on p.account = a.account and p.device_id = ${device}
    where a.account = ${uuidOf(account)} and a.aik = ${asBuffer(list.aik)}`;
  return same !== undefined;
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
  /** Keys that still open the reserve, newest first. */
  readonly retiredKeys: readonly Uint8Array[];
  readonly invites: readonly OpenInvite[];
  /** Mailboxes of devices not revoked. */
  readonly mailboxes: readonly { readonly mailbox: string; readonly hasPrekey: boolean }[];
}

interface RecipientRow {
  readonly asked: string;
  readonly account: string;
  readonly accessKey: Uint8Array;
  readonly retired: string | null;
  readonly invites: string | null;
  readonly mailboxes: string | null;
}

/**
 * The recipients among `accounts` that exist. Units: invites must expire after `nowMs`.
 *
 * For an account that is not there, the next one that is there is read in its place, and then left out:
 * otherwise less would be read for it, and time tell a stranger which accounts exist (`relay-timing` in
 * bench/).
 */
export async function findRecipients(
  sql: Sql,
  accounts: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, Recipient>> {
  const rows = await sql<RecipientRow[]>`
select asked.account::text as asked, a.account::text as account, k.key as "accessKey",
  (select string_agg(encode(o.key, 'hex'), ',' order by o.generation desc) from access_key o
    where o.account = a.account and o.retired_at_ms > ${nowMs - retiredKeyMs}) as retired,
  (select string_agg(i.invite::text || ' ' || encode(i.key, 'hex'), ',') from invite_key i
    where i.account = a.account and i.revoked_at_ms is null and i.expires_at_ms > ${nowMs}) as invites,
  (select string_agg(d.mailbox::text || case when p.device_id is null then ' 0' else ' 1' end, ',')
    from device d left join prekey p on p.device_id = d.device_id
    where d.account = a.account and d.state < 2) as mailboxes
from unnest(${arrayLiteral(accounts.map(uuidOf))}::uuid[]) as asked(account)
cross join lateral (
  (select account from account where account >= asked.account order by account limit 1)
  union all (select account from account order by account limit 1) limit 1
) a
join access_key k on k.account = a.account and k.retired_at_ms is null`;
  const read = rows.map((row) => [row, recipientOf(row)] as const);
  const there = read.filter(([{ asked, account }]) => asked === account);
  return new Map(there.map(([, recipient]) => [recipient.account, recipient]));
}

function recipientOf(row: RecipientRow): Recipient {
  return {
    account: idOf(row.account),
    accessKey: row.accessKey,
    retiredKeys: (row.retired?.split(",") ?? [])
      .slice(0, maxRetiredKeys)
      .map((key) => Buffer.from(key, "hex")),
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
