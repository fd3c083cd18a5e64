/**
 * The newest prekey of each device. A prekey never goes back in time, and two of one date must be
 * the same: otherwise senders and device could disagree on which private half is meant.
 *
 * Spec: docs/protocol.md "Prekey".
 */
import { clampU64, equalBytes } from "../../shared/bytes.ts";
import type { Prekey } from "../../shared/crypto/prekey.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { MailboxHold } from "./mailboxes.ts";
import { asBuffer, type Sql, uuidOf, uuidOfBytes } from "./sql-values.ts";

/** `older`: the relay holds a newer one. `conflict`: another key with the same date. `displaced`: a newer connection exists. */
export type PublishError = { readonly type: "displaced" | "older" | "conflict" };

interface PublishRow {
  readonly owns: boolean;
  readonly stored: boolean;
  readonly priorNotBeforeMs: number | null;
  readonly prior: Uint8Array | null;
}

/** Stores a verified prekey of the device that holds the mailbox. Repeating it succeeds. */
export async function publishPrekey(
  sql: Sql,
  hold: MailboxHold & { readonly account: string },
  prekey: Prekey,
  nowMs: number,
): Promise<Result<void, PublishError>> {
  const deviceId = uuidOfBytes(prekey.deviceId);
  const notBeforeMs = clampU64(prekey.notBeforeMs);
  const [row] = await sql<PublishRow[]>`
with owner as materialized (
  select mailbox from mailbox
  where lane = ${hold.lane} and mailbox = ${uuidOf(hold.mailbox)} and session = ${hold.session} for update
),
put as (
  insert into prekey (device_id, account, not_before_ms, record, received_at_ms)
  select ${deviceId}::uuid, ${uuidOf(hold.account)}::uuid, ${notBeforeMs}::bigint, ${asBuffer(prekey.record)}, ${nowMs}::bigint from owner
  on conflict (device_id) do update set not_before_ms = excluded.not_before_ms, record = excluded.record,
    received_at_ms = excluded.received_at_ms
  where prekey.not_before_ms < excluded.not_before_ms
  returning device_id
)
select exists (select 1 from owner) as owns, exists (select 1 from put) as stored,
  p.not_before_ms as "priorNotBeforeMs", p.record as prior
from (select 1) one left join prekey p on p.device_id = ${deviceId}`;
  if (row === undefined || !row.owns) return err({ type: "displaced" });
  if (row.stored) return ok(undefined);
  if (row.prior !== null && equalBytes(row.prior, prekey.record)) return ok(undefined);
  return err({ type: row.priorNotBeforeMs === notBeforeMs ? "conflict" : "older" });
}
