/**
 * What time takes away: items nobody acknowledged, day partitions, rendezvous boxes, invite keys.
 * When to do so is delivery/expire.ts.
 */
import { dropPartitionsBefore, ensureDayPartitions } from "../db/partitions.ts";
import { firstLargeBucket } from "../../shared/limits.ts";
import { dayMs } from "../../shared/clock.ts";
import { itemOverheadBytes, type Sql } from "./sql-values.ts";

/** Makes sure that items of those days can be stored. Units: days since 1970-01-01, both included. */
export async function ensureDays(sql: Sql, fromDay: number, toDay: number): Promise<void> {
  await ensureDayPartitions(sql, fromDay, toDay);
}

/** Drops everything of days before `day`; returns how many tables went. */
export async function dropDaysBefore(sql: Sql, day: number): Promise<number> {
  return dropPartitionsBefore(sql, day);
}

/** Items removed by one statement; more are removed by the next. */
const expireBatch = 5_000;

/**
 * Removes unacknowledged items of days before `day` and gives their room back, so that dropping the
 * partition afterwards leaves every count right. Returns how many items went.
 */
export async function expireItems(sql: Sql, lane: number, day: number): Promise<number> {
  let total = 0;
  for (;;) {
    const [row] = await sql<{ items: number }[]>`
with old as materialized (
  select mailbox, day, seq from item
  where lane = ${lane} and day < ${day} and acked is null order by mailbox, seq limit ${expireBatch}
),
locked as materialized (
  select mailbox from mailbox where lane = ${lane} and mailbox in (select mailbox from old) order by mailbox for update
),
gone as (
  delete from item using old where item.lane = ${lane} and item.mailbox = old.mailbox and item.day = old.day
    and item.seq = old.seq and item.day < ${day} and item.acked is null and (select count(*) from locked) >= 0
  returning item.mailbox, item.bucket, item.source
),
freed as (
  select mailbox, count(*) filter (where source <> 2) as items, count(*) filter (where source = 2) as reserve_items,
    coalesce(sum(${itemOverheadBytes}::int + (1024 << (2 * bucket))) filter (where source <> 2), 0) as bytes,
    coalesce(sum(${itemOverheadBytes}::int + (1024 << (2 * bucket))) filter (where source <> 2 and bucket >= ${firstLargeBucket}), 0) as large
  from gone group by mailbox
),
counted as (
  update mailbox set queued_items = mailbox.queued_items - f.items, reserve_items = mailbox.reserve_items - f.reserve_items,
    queued_bytes = mailbox.queued_bytes - f.bytes, large_bytes = mailbox.large_bytes - f.large
  from freed f where mailbox.lane = ${lane} and mailbox.mailbox = f.mailbox
)
select count(*)::int as items from gone`;
    const items = row?.items ?? 0;
    total += items;
    if (items < expireBatch) return total;
  }
}

/** Removes rendezvous boxes and invite keys whose time is over. */
export async function purgeExpired(sql: Sql, nowMs: number): Promise<void> {
  await sql`delete from rendezvous where expires_at_ms <= ${nowMs}`;
  // Revoked keys stay until they would have expired: a revocation is for good.
  await sql`delete from invite_key where expires_at_ms <= ${nowMs - dayMs}`;
}
