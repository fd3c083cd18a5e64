/**
 * The database under the relay: version, schema, and the settings and states in which a Postgres loses
 * what it accepted or slows down. It only reads.
 */
import type postgres from "postgres";

import { type Clock, dayOf } from "../../../shared/clock.ts";
import { compareToShipped, landedMigrations } from "../../db/migrate.ts";
import { readDatabaseHealth } from "../../store/database-health.ts";
import { listDays } from "../backup/table-content.ts";
import { failure, fine, type Finding, warning } from "./finding.ts";

/** Partitions are made so many days ahead at least; fewer means that upkeep does not run. */
const daysAhead = 1;
const longTransactionSeconds = 60;
const clockSkewMs = 5_000;

/** Looks at an open database. Rejects with the driver's failure. */
export async function checkDatabase(
  sql: postgres.Sql,
  serverVersion: string,
  clock: Clock,
): Promise<readonly Finding[]> {
  return [
    fine("database", `Postgres ${serverVersion}`),
    ...(await checkDurability(sql)),
    await checkClock(sql, clock),
    ...(await checkContent(sql, clock)),
  ];
}

async function checkDurability(sql: postgres.Sql): Promise<readonly Finding[]> {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings
    where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum') order by name`;
  const off = rows.filter(({ setting }) => setting === "off").map(({ name }) => name);
  if (off.length === 0) {
    return [fine("durability", rows.map(({ name, setting }) => `${name}=${setting}`).join(", "))];
  }
  return off.map((name) => {
    // The relay overrides this one for its own sessions.
    if (name === "synchronous_commit")
      return fine(name, "off; the relay's own commits wait anyway");
    return name === "autovacuum"
      ? warning(name, "off", "alter system set autovacuum = on; dead rows slow every queue down")
      : failure(name, "off", `alter system set ${name} = on; a power cut loses what was accepted`);
  });
}

async function checkClock(sql: postgres.Sql, clock: Clock): Promise<Finding> {
  const [row] = await sql<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::int8 as ms`;
  const apart = Math.abs((row?.ms ?? 0) - clock.nowMs());
  return apart <= clockSkewMs
    ? fine("database clock", `${apart} ms from this machine's`)
    : warning(
        "database clock",
        `${Math.round(apart / 1000)} s from this machine's`,
        "run chrony or systemd-timesyncd on both",
      );
}

async function checkContent(sql: postgres.Sql, clock: Clock): Promise<readonly Finding[]> {
  const landed = await landedMigrations(sql);
  const gap = compareToShipped(landed);
  if (!gap.ok) return [failure("schema", `${landed.length} migrations`, gap.error.message)];
  const { missing, version } = gap.value;
  if (missing > 0) {
    return [
      warning(
        "schema",
        `${missing} of ${version} migrations are missing`,
        "the next start makes them, or: pixie relay migrate",
      ),
    ];
  }
  const health = await readDatabaseHealth(sql);
  const seconds = Math.round(health.oldestTransactionSeconds);
  return [
    fine("schema", `${version} migrations, as this version expects`),
    checkPartitions(await listDays(sql), dayOf(clock.nowMs())),
    seconds <= longTransactionSeconds
      ? fine("oldest transaction", `${seconds} s`)
      : warning(
          "oldest transaction",
          `open for ${seconds} s: dead rows cannot be removed meanwhile`,
          "select pid, application_name, xact_start, state from pg_stat_activity order by xact_start;\nend it, or: alter system set idle_in_transaction_session_timeout = '60s'",
        ),
  ];
}

function checkPartitions(days: readonly number[], today: number): Finding {
  const last = days.at(-1);
  if (last === undefined) return warning("partitions", "none", "they are made when a relay starts");
  const ahead = last - today;
  return ahead >= daysAhead
    ? fine("partitions", `${days.length} days, ${ahead} ahead`)
    : warning(
        "partitions",
        `the newest is ${-ahead} days old`,
        'a relay that runs makes them every hour: start one, or read its log for "expiry failed"',
      );
}
