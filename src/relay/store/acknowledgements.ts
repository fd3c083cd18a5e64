/**
 * Taking items off a mailbox: what a device acknowledged, and the shared bodies that nobody needs
 * any more. Both are batched over connections and never wait for a device.
 *
 * An acknowledged row stays, emptied, until its day's partition is dropped: a late retry of its slot
 * is then a duplicate (a tombstone table costs 19 % more, forgetting it delivers twice).
 */
import { firstLargeBucket } from "../../shared/limits.ts";
import { arrayLiteral, idOf, itemOverheadBytes, type Sql, uuidOf } from "./sql-values.ts";

/** What one connection acknowledges. */
export interface Acknowledgement {
  readonly mailbox: string;
  /** Number of the connection; a stale one has no say. */
  readonly session: number;
  /** Highest sequence number that this connection was sent. */
  readonly sentThrough: number;
  /** Items by number and day (the day prunes partitions). Never a range: see R4. */
  readonly items: readonly { readonly seq: number; readonly day: number }[];
}

/** A shared body and how many of its items went. */
export interface BodyRelease {
  readonly day: number;
  readonly bodyId: string;
  readonly items: number;
}

/** What came of a batch of acknowledgements. */
export interface Acknowledged {
  /** In their order: whether the acknowledging connection was still the current one. */
  readonly current: readonly boolean[];
  readonly released: readonly BodyRelease[];
}

interface AckRow {
  readonly mailbox: string | null;
  readonly session: number | null;
  readonly day: number | null;
  readonly body: string | null;
  readonly items: number | null;
}

/**
 * Empties acknowledged items and gives their room back. Resolves after the commit.
 *
 * Each item is looked up by itself (`limit 1`) and updated where it was found. As one join, the planner
 * may begin with all that waits in the lane, which beside a transaction left open is also all that ever
 * waited: 1,000 pages for one acknowledgement after 3,000 items, instead of 17 (R43).
 */
export async function acknowledgeItems(
  sql: Sql,
  lane: number,
  batch: { readonly acknowledgements: readonly Acknowledgement[]; readonly nowMs: number },
): Promise<Acknowledged> {
  const marks = batch.acknowledgements;
  const flat = marks.flatMap((mark) =>
    mark.items.map((item) => ({ ...item, mailbox: uuidOf(mark.mailbox), session: mark.session })),
  );
  const days = flat.map((item) => item.day);
  const [firstDay, lastDay] = [Math.min(...days, 0x10000), Math.max(...days, 0)];
  const mailboxes = arrayLiteral(marks.map((mark) => uuidOf(mark.mailbox)));
  const rows = await sql<AckRow[]>`
with mark as materialized (
  select mailbox, session, max(sent) as sent
  from unnest(${mailboxes}::uuid[], ${arrayLiteral(marks.map((mark) => mark.session))}::bigint[],
    ${arrayLiteral(marks.map((mark) => mark.sentThrough))}::bigint[]) as x(mailbox, session, sent)
  group by mailbox, session
),
locked as materialized (
  select mailbox, session from mailbox
  where lane = ${lane} and mailbox = any(${mailboxes}::uuid[]) order by mailbox for update
),
owned as materialized (
  select k.mailbox, k.session, k.sent from mark k join locked l on l.mailbox = k.mailbox and l.session = k.session
),
found as materialized (
  select t.part, t.row from unnest(${arrayLiteral(flat.map((item) => item.mailbox))}::uuid[], ${arrayLiteral(flat.map((item) => item.session))}::bigint[],
    ${arrayLiteral(days)}::int[], ${arrayLiteral(flat.map((item) => item.seq))}::bigint[]) as a(mailbox, session, day, seq)
    join owned o on o.mailbox = a.mailbox and o.session = a.session
    cross join lateral (
      select i.tableoid as part, i.ctid as row from item i
      where i.lane = ${lane} and i.mailbox = a.mailbox and i.seq = a.seq and i.day = a.day and i.acked is null
        and i.day between ${firstDay} and ${lastDay} limit 1
    ) t
),
emptied as (
  update item set acked = to_timestamp(${batch.nowMs}::float8 / 1000), header = null, body = null
  from found where item.lane = ${lane} and item.day between ${firstDay} and ${lastDay}
    and item.ctid = found.row and item.tableoid = found.part and item.acked is null
  returning item.mailbox, item.day, item.bucket, item.source, item.body_id
),
freed as (
  select mailbox, count(*) filter (where source <> 2) as items, count(*) filter (where source = 2) as reserve_items,
    coalesce(sum(${itemOverheadBytes}::int + (1024 << (2 * bucket))) filter (where source <> 2), 0) as bytes,
    coalesce(sum(${itemOverheadBytes}::int + (1024 << (2 * bucket))) filter (where source <> 2 and bucket >= ${firstLargeBucket}), 0) as large
  from emptied group by mailbox
),
counted as (
  update mailbox set delivered_seq = greatest(mailbox.delivered_seq, o.sent),
    queued_items = mailbox.queued_items - coalesce(f.items, 0), reserve_items = mailbox.reserve_items - coalesce(f.reserve_items, 0),
    queued_bytes = mailbox.queued_bytes - coalesce(f.bytes, 0), large_bytes = mailbox.large_bytes - coalesce(f.large, 0)
  from owned o left join freed f on f.mailbox = o.mailbox
  where mailbox.lane = ${lane} and mailbox.mailbox = any(${mailboxes}::uuid[]) and mailbox.mailbox = o.mailbox
)
select mailbox::text as mailbox, session, null::int as day, null::text as body, null::int as items from owned
union all
select null, null, day, body_id::text, count(*)::int from emptied where body_id is not null group by day, body_id`;
  return { current: currentOf(marks, rows), released: releasedOf(rows) };
}

/** Lets go of shared bodies; one that no item needs is deleted. */
export async function releaseBodies(
  sql: Sql,
  lane: number,
  released: readonly BodyRelease[],
): Promise<void> {
  if (released.length === 0) return;
  const ids = arrayLiteral(released.map((body) => uuidOf(body.bodyId)));
  const days = arrayLiteral([...new Set(released.map((body) => body.day))]);
  // A crash between the acknowledgement and this leaves a body behind until its day is dropped:
  // space, never a wrong delivery. No alias on the table: some routers refuse one. Each part names the
  // keys: a join alone was planned as a scan of the whole day.
  await sql`
with asked as materialized (
  select * from unnest(${arrayLiteral(released.map((body) => body.day))}::int[], ${ids}::uuid[],
    ${arrayLiteral(released.map((body) => body.items))}::int[]) as x(day, body_id, items)
),
locked as materialized (
  select day, body_id, pending from body
  where lane = ${lane} and day = any(${days}::int[]) and body_id = any(${ids}::uuid[])
  order by day, body_id for update
),
settled as materialized (
  select l.day, l.body_id, l.pending - sum(a.items) as pending
  from locked l join asked a on a.day = l.day and a.body_id = l.body_id group by l.day, l.body_id, l.pending
),
gone as (
  delete from body using settled
  where body.lane = ${lane} and body.day = any(${days}::int[]) and body.body_id = any(${ids}::uuid[])
    and body.day = settled.day and body.body_id = settled.body_id and settled.pending <= 0
)
update body set pending = settled.pending from settled
where body.lane = ${lane} and body.day = any(${days}::int[]) and body.body_id = any(${ids}::uuid[])
  and body.day = settled.day and body.body_id = settled.body_id and settled.pending > 0`;
}

function currentOf(marks: readonly Acknowledgement[], rows: readonly AckRow[]): boolean[] {
  const owners = new Set(
    rows.flatMap((row) =>
      row.mailbox === null ? [] : [`${idOf(row.mailbox)} ${row.session ?? ""}`],
    ),
  );
  return marks.map((mark) => owners.has(`${mark.mailbox} ${mark.session}`));
}

function releasedOf(rows: readonly AckRow[]): BodyRelease[] {
  return rows.flatMap(({ day, body, items }) =>
    day === null || body === null || items === null ? [] : [{ day, bodyId: idOf(body), items }],
  );
}
