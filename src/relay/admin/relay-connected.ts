/**
 * Whether a relay is at work on a database: offline commands refuse one that is in use. It knows a
 * session by its application name, which every session of a relay has.
 */
import { setTimeout as delay } from "node:timers/promises";

import type postgres from "postgres";

/** The session of a command that just ended takes a moment to go. */
const timesAsked = 20;
const pollMs = 100;

/** Whether anybody but us is connected as a relay is. */
export async function relayConnected(sql: postgres.Sql): Promise<boolean> {
  for (let asked = 1; ; asked++) {
    const others = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'pixie-relay' and pid <> pg_backend_pid()`;
    if (others.length === 0) return false;
    if (asked === timesAsked) return true;
    await delay(pollMs);
  }
}
