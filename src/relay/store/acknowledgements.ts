/**
 * Taking items off a mailbox: what a device acknowledged, and the shared bodies that nobody needs
 * any more. Both are batched over connections and never wait for a device.
 *
 * An acknowledged row stays, emptied, until its day's partition is dropped: a late retry of its slot
 * is then a duplicate (a tombstone table costs 19 % more, forgetting it delivers twice).
 */
import { acknowledgeStatement } from "./acknowledge-statement.ts";
import { arrayLiteral, idOf, type Sql, uuidOf } from "./sql-values.ts";

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

/** Empties acknowledged items and gives their room back. Resolves after the commit. */
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
  const rows = await sql.unsafe<AckRow[]>(
    acknowledgeStatement,
    [
      lane,
      arrayLiteral(marks.map((mark) => uuidOf(mark.mailbox))),
      arrayLiteral(marks.map((mark) => mark.session)),
      arrayLiteral(marks.map((mark) => mark.sentThrough)),
      arrayLiteral(flat.map((item) => item.mailbox)),
      arrayLiteral(flat.map((item) => item.session)),
      arrayLiteral(days),
      arrayLiteral(flat.map((item) => item.seq)),
      Math.min(...days, 0x10000),
      Math.max(...days, 0),
      batch.nowMs,
    ],
    { prepare: true },
  );
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
