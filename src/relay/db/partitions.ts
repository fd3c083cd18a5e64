/**
 * Day partitions of item and body: made ahead, dropped when expired. When either happens is
 * decided by delivery/expire.ts, which knows the clock; the work itself is two functions in the
 * database (migrations/relay), so that each is one statement and needs no right to create tables.
 *
 * Both may run in several processes at once: an advisory lock inside the functions orders them.
 */
import type postgres from "postgres";

/**
 * Makes sure that items of every day in `fromDay … toDay` (both included) can be stored. Idempotent.
 * Units: UTC days since 1970-01-01.
 */
export async function ensureDayPartitions(
  sql: postgres.Sql,
  fromDay: number,
  toDay: number,
): Promise<void> {
  await sql`select ensure_day_partitions(${fromDay}::int, ${toDay}::int)`;
}

/**
 * Drops every partition of a day before `day`; returns how many tables went.
 * Errors: rejects with Postgres code 55P03 when a long reader holds one for 2 s; run it again later.
 */
export async function dropPartitionsBefore(sql: postgres.Sql, day: number): Promise<number> {
  const [row] = await sql<
    { dropped: number }[]
  >`select drop_day_partitions(${day}::int) as dropped`;
  return row?.dropped ?? 0;
}
