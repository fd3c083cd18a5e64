/**
 * How the hot tables are doing, by the server's own statistics: estimates that cost nothing to read.
 * A role sees the transactions of its own sessions; with `pg_read_all_stats` it sees everybody's.
 */
import type { DatabaseHealth, TableHealth } from "../metrics.ts";
import type { Sql } from "./sql-values.ts";

/** Reads it. Partitions are counted with their parent. */
export async function readDatabaseHealth(sql: Sql): Promise<DatabaseHealth> {
  const tables = await sql<TableHealth[]>`
    select coalesce(p.relname, s.relname)::text as table,
      sum(s.n_live_tup)::int8 as "liveRows", sum(s.n_dead_tup)::int8 as "deadRows"
    from pg_stat_user_tables s
    left join pg_inherits i on i.inhrelid = s.relid left join pg_class p on p.oid = i.inhparent
    where s.schemaname = 'public' and coalesce(p.relname, s.relname) in ('item', 'body', 'mailbox')
    group by 1 order by 1`;
  const [oldest] = await sql<{ seconds: number }[]>`
    select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as seconds
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  return { tables, oldestTransactionSeconds: oldest?.seconds ?? 0 };
}
