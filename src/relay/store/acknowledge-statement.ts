/**
 * The statement by which a batch of acknowledgements is committed, as text. It is one statement for the
 * reasons of accept-statement.ts, and planned once for a connection as well: planning was half of what a
 * small batch cost.
 *
 * Each item is looked up by itself (`limit 1`) and updated where it was found. As one join, the planner
 * may begin with all that waits in the lane, which beside a transaction left open is also all that ever
 * waited: 1,000 pages for one acknowledgement after 3,000 items, instead of 17 (R43). So a plan made on
 * an empty day is as good as any. Why days are compared as `any(days)`: accept-statement.ts.
 *
 * What goes in and comes out is store/acknowledgements.ts. Spec: docs/operating.md "Shape of the tables".
 */
import { firstLargeBucket } from "../../shared/limits.ts";
import { itemOverheadBytes } from "./sql-values.ts";

/**
 * `$1` lane; per acknowledgement `$2` mailbox, `$3` session, `$4` sent through; per item `$5` mailbox,
 * `$6` session, `$7` day, `$8` number; `$9` and `$10` first and last day; `$11` now, ms.
 */
export const acknowledgeStatement = `
with mark as materialized (
  select mailbox, session, max(sent) as sent
  from unnest($2::uuid[], $3::bigint[],
    $4::bigint[]) as x(mailbox, session, sent)
  group by mailbox, session
),
locked as materialized (
  select mailbox, session from mailbox
  where lane = $1 and mailbox = any($2::uuid[]) order by mailbox for update
),
owned as materialized (
  select k.mailbox, k.session, k.sent from mark k join locked l on l.mailbox = k.mailbox and l.session = k.session
),
asked as materialized (
  select mailbox, session, array[day] as days, seq
  from unnest($5::uuid[], $6::bigint[],
    $7::int[], $8::bigint[]) as x(mailbox, session, day, seq)
),
found as materialized (
  select t.part, t.row from asked a join owned o on o.mailbox = a.mailbox and o.session = a.session
    cross join lateral (
      select i.tableoid as part, i.ctid as row from item i
      where i.lane = $1 and i.mailbox = a.mailbox and i.seq = a.seq and i.day = any(a.days) and i.acked is null
        and i.day between $9 and $10 limit 1
    ) t
),
emptied as (
  update item set acked = to_timestamp($11::float8 / 1000), header = null, body = null
  from found where item.lane = $1 and item.day between $9 and $10
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
  where mailbox.lane = $1 and mailbox.mailbox = any($2::uuid[]) and mailbox.mailbox = o.mailbox
)
select mailbox::text as mailbox, session, null::int as day, null::text as body, null::int as items from owned
union all
select null, null, day, body_id::text, count(*)::int from emptied where body_id is not null group by day, body_id`;
