/**
 * Invite keys: what lets somebody in whom an account invited. The relay learns the key and nothing
 * of the invite; it names a key by its hash.
 *
 * Spec: docs/protocol.md "Invite", "Tokens".
 */
import { blake2b } from "../../shared/crypto/sodium.ts";
import { maxOpenInvites } from "../../shared/limits.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { MailboxHold } from "./mailboxes.ts";
import { asBuffer, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

/** `too-many`: the account has as many open invites as it may. `closed`: that key was revoked for good. */
export type InviteKeyError = { readonly type: "displaced" | "too-many" | "closed" };

type Holder = MailboxHold & { readonly account: string };

/** Opens a key until `expiresMs`, or moves the expiry of an open one. */
export async function openInvite(
  sql: Sql,
  holder: Holder,
  invite: { readonly key: Uint8Array; readonly expiresMs: number },
  nowMs: number,
): Promise<Result<void, InviteKeyError>> {
  const id = inviteName(invite.key);
  const account = uuidOf(holder.account);
  // Two devices that open keys at the same moment may pass the limit by one each: it bounds work
  // per token, not safety.
  const [row] = await sql<{ owns: boolean; stored: boolean; closed: boolean }[]>`
with owner as materialized (
  select mailbox from mailbox
  where lane = ${holder.lane} and mailbox = ${uuidOf(holder.mailbox)} and session = ${holder.session} for update
),
put as (
  insert into invite_key (account, invite, key, created_at_ms, expires_at_ms)
  select ${account}::uuid, ${id}::uuid, ${asBuffer(invite.key)}, ${nowMs}::bigint, ${invite.expiresMs}::bigint from owner
  where (select count(*) from invite_key where account = ${account} and invite <> ${id}
    and revoked_at_ms is null and expires_at_ms > ${nowMs}) < ${maxOpenInvites}
  on conflict (account, invite) do update set expires_at_ms = excluded.expires_at_ms
  where invite_key.revoked_at_ms is null
  returning invite
)
select exists (select 1 from owner) as owns, exists (select 1 from put) as stored,
  exists (select 1 from invite_key where account = ${account} and invite = ${id} and revoked_at_ms is not null) as closed`;
  if (row === undefined || !row.owns) return err({ type: "displaced" });
  if (row.stored) return ok(undefined);
  return err({ type: row.closed ? "closed" : "too-many" });
}

/** Closes a key for good. One that never was, or is closed already, is success. */
export async function closeInvite(
  sql: Sql,
  holder: Holder,
  key: Uint8Array,
  nowMs: number,
): Promise<Result<void, InviteKeyError>> {
  const [row] = await sql<{ owns: boolean }[]>`
with owner as materialized (
  select mailbox from mailbox
  where lane = ${holder.lane} and mailbox = ${uuidOf(holder.mailbox)} and session = ${holder.session} for update
),
closed as (
  update invite_key set revoked_at_ms = ${nowMs} where account = ${uuidOf(holder.account)}
    and invite = ${inviteName(key)} and revoked_at_ms is null and exists (select 1 from owner)
)
select exists (select 1 from owner) as owns`;
  return row?.owns === true ? ok(undefined) : err({ type: "displaced" });
}

function inviteName(key: Uint8Array): string {
  return uuidOfBytes(blake2b(16, key));
}
