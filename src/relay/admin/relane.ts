/**
 * `pixie relay relane`: another number of lanes, offline. Which lane an account belongs to is a hash
 * modulo that number, so its mailboxes, their items and the bodies those share move together.
 *
 * One transaction: a crash on the way leaves what was there before. Statements here are the only ones
 * that look at more than one lane. Spec: docs/operating.md "Lanes".
 */
import type postgres from "postgres";

import { err, ok, type Result } from "../../shared/result.ts";
import { bytesFromUuid, idText } from "../../shared/ids.ts";
import type { RelayConfig } from "../config.ts";
import { openDatabase } from "../db/client.ts";
import { causeText } from "../db/database-error.ts";
import { createLog } from "../log.ts";
import { laneOf } from "../store/lane.ts";
import { readRelayState } from "../store/relay-state.ts";
import { relayConnected } from "./relay-connected.ts";

/** What was moved. */
export interface Relaned {
  readonly from: number;
  readonly to: number;
  readonly mailboxes: number;
  readonly items: number;
  readonly bodies: number;
}

/** Why nothing was moved. */
export type RelaneError = { readonly type: "input" | "database"; readonly message: string };

/** More writers than this on one database only make batches smaller. */
const maxLanes = 256;
/** Accounts whose lanes are computed and written at once. */
const chunk = 5_000;

/** Opens the database, which no relay may use, and moves. Errors: nothing was changed. */
export async function runRelane(
  config: RelayConfig,
  written: string,
): Promise<Result<Relaned, RelaneError>> {
  const lanes = /^\d{1,4}$/.test(written) ? Number(written) : 0;
  if (lanes < 1 || lanes > maxLanes) {
    const message = `expected --lanes from 1 to ${maxLanes}, got ${written}`;
    return err({ type: "input", message });
  }
  const log = createLog({ level: config.logLevel === "info" ? "warn" : config.logLevel });
  const { dataDir, databaseUrl } = config;
  const opened = await openDatabase({ dataDir, databaseUrl, log, maxConnections: 1 });
  if (!opened.ok) return err({ type: "database", message: opened.error.message });
  try {
    if (await relayConnected(opened.value.sql)) {
      const message = "a relay is connected to that database: stop every one, then move the lanes";
      return err({ type: "input", message });
    }
    return ok(await relane(opened.value.sql, lanes));
  } catch (cause) {
    const message = `no lane was moved: ${causeText(cause)}`;
    return err({ type: "database", message });
  } finally {
    await opened.value.close();
  }
}

/** Moves. `sql` has exactly one connection. Rejects, rolled back, when the database fails. */
export async function relane(sql: postgres.Sql, lanes: number): Promise<Relaned> {
  await sql`begin`;
  try {
    // Nobody else: a relay that starts now waits, and reads the new number.
    await sql`lock table relay_state, mailbox, item, body in access exclusive mode`;
    const { lanes: from } = await readRelayState(sql);
    await mapMailboxes(sql, lanes);
    const bodies = await sql`
      update body set lane = moved.lane from (
        select i.lane as former, i.day, i.body_id, min(coalesce(m.lane, 0)) as lane
        from item i left join mailbox_lane m on m.mailbox = i.mailbox
        where i.body_id is not null group by i.lane, i.day, i.body_id
      ) moved
      where body.lane = moved.former and body.day = moved.day and body.body_id = moved.body_id
        and body.lane <> moved.lane`;
    // Items whose mailbox is gone wait for their partition's end, in a lane that exists.
    const items = await sql`
      update item set lane = moved.lane from (
        select i.mailbox, coalesce(min(m.lane), 0) as lane
        from item i left join mailbox_lane m on m.mailbox = i.mailbox group by i.mailbox
      ) moved
      where item.mailbox = moved.mailbox and item.lane <> moved.lane`;
    const mailboxes = await sql`
      update mailbox set lane = moved.lane from mailbox_lane moved
      where mailbox.mailbox = moved.mailbox and mailbox.lane <> moved.lane`;
    await sql`update relay_state set lanes = ${lanes}::int`;
    await sql`commit`;
    const moved = { mailboxes: mailboxes.count, items: items.count, bodies: bodies.count };
    return { from, to: lanes, ...moved };
  } catch (cause) {
    // Where the session is gone, its transaction is too.
    const [undone] = await Promise.allSettled([sql`rollback`]);
    if (undone.status === "fulfilled") throw cause;
    const both = `${causeText(cause)}; rolling back: ${causeText(undone.reason)}`;
    throw new AggregateError([cause, undone.reason], both, { cause });
  }
}

/** The lane of every mailbox, in a table that goes with the transaction. */
async function mapMailboxes(sql: postgres.Sql, lanes: number): Promise<void> {
  await sql`
    create temporary table mailbox_lane (mailbox uuid primary key, lane int not null) on commit drop`;
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const accounts = await sql<{ account: string }[]>`
      select distinct account::text as account from mailbox where account > ${after}::text::uuid
      order by account limit ${chunk}`;
    const last = accounts.at(-1);
    if (last === undefined) break;
    after = last.account;
    const numbers = accounts.map(({ account }) => laneOf(idOfUuid(account), lanes));
    const ids = `{${accounts.map(({ account }) => account).join(",")}}`;
    await sql`
      insert into mailbox_lane
      select mailbox.mailbox, moved.lane
      from unnest(${ids}::text::uuid[], ${`{${numbers.join(",")}}`}::text::int[]) as moved(account, lane)
      join mailbox on mailbox.account = moved.account`;
  }
  await sql`analyze mailbox_lane`;
}

function idOfUuid(uuid: string): string {
  const bytes = bytesFromUuid(uuid);
  if (!bytes.ok) throw new Error("the database holds an account that is no uuid");
  return idText(bytes.value);
}
