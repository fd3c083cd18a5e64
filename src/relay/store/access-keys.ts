/**
 * Access keys: replacing the one that contacts hold, and what the replaced ones may still do, so that
 * two people who both rotated while apart can tell each other.
 *
 * Spec: docs/protocol.md "Access keys".
 */
import { maxReserveBundles, maxRetiredKeys, retiredKeyMs } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { MailboxHold } from "./mailboxes.ts";
import { asBuffer, type Sql, uuidOf } from "./sql-values.ts";

/** `conflict`: it is a retired key of the account, or another device replaced it at the same moment. */
export type RotateError = { readonly type: "displaced" | "conflict" };

/** Makes `key` the current one. Repeating it succeeds; a retired key that is still kept does not come back. */
export async function rotateAccessKey(
  sql: Sql,
  hold: MailboxHold & { readonly account: string },
  key: Uint8Array,
  nowMs: number,
): Promise<Result<void, RotateError>> {
  const account = uuidOf(hold.account);
  const [row] = await sql<{ owns: boolean; stored: boolean; same: boolean }[]>`
with owner as materialized (
  select mailbox from mailbox
  where lane = ${hold.lane} and mailbox = ${uuidOf(hold.mailbox)} and session = ${hold.session} for update
),
retired as (
  update access_key set retired_at_ms = ${nowMs} where account = ${account} and retired_at_ms is null
    and exists (select 1 from owner)
    and not exists (select 1 from access_key had where had.account = ${account} and had.key = ${asBuffer(key)})
  returning account, generation
),
fresh as (
  insert into access_key (account, generation, key, created_at_ms)
  select account, generation + 1, ${asBuffer(key)}::bytea, ${nowMs}::bigint from retired returning generation
),
gone as (
  delete from access_key using retired where access_key.account = retired.account
    and access_key.generation <= retired.generation - ${maxRetiredKeys}::int
)
select exists (select 1 from owner) as owns, exists (select 1 from fresh) as stored,
  exists (select 1 from access_key where account = ${account} and retired_at_ms is null and key = ${asBuffer(key)}) as same`;
  if (row === undefined || !row.owns) return err({ type: "displaced" });
  return row.stored || row.same ? ok(undefined) : err({ type: "conflict" });
}

/** Takes one of the day's bundle requests by retired keys. False: they are used up. Units: UTC day. */
export async function takeReserveBundle(sql: Sql, account: string, day: number): Promise<boolean> {
  const rows = await sql`
    update account set reserve_day = ${day}, reserve_bundles = case when reserve_day = ${day} then reserve_bundles + 1 else 1 end
    where account = ${uuidOf(account)} and (reserve_day <> ${day} or reserve_bundles < ${maxReserveBundles}) returning account`;
  return rows.length > 0;
}

/** Removes retired keys whose time is over. */
export async function purgeRetiredKeys(sql: Sql, nowMs: number): Promise<void> {
  await sql`delete from access_key where retired_at_ms <= ${nowMs - retiredKeyMs}`;
}
