/**
 * The statement by which a batch of uploads is accepted, as text. It is one statement because the
 * driver's transactions cannot survive a dying backend, and because the mailbox rows must stay locked
 * from drawing a number to committing it.
 *
 * It is planned once for a connection, not for each batch (a fifth of its cost at 128 rows), perhaps on
 * empty tables. So whatever it looks up is bound by the very keys of the batch: there is no plan that
 * reads more than those, however large a table becomes.
 *
 * A partition is never picked by a value that is only known while the statement runs. An acknowledgement
 * that did so with a kept plan ended the process of Postgres 18.4 (signal 11) within seconds of load; what
 * is inferred is that `for update` then met a row which another statement had just written. So days are compared as `any(days)`, which only indexes follow,
 * and `between` two parameters leaves the partitions out.
 *
 * Every hot table is bound to the lane `$1`. What goes in and comes out is store/items.ts.
 * Spec: docs/operating.md "Shape of the tables".
 */
import {
  firstLargeBucket,
  headerBytes,
  maxInviteItems,
  maxReserveItems,
} from "../../shared/limits.ts";
import { itemOverheadBytes } from "./sql-values.ts";

/**
 * `$1` lane; per copy `$2` upload, `$3` mailbox, `$4` account, `$5` slot, `$6` day, `$7` bucket,
 * `$8` invite or null, `$9` shared body or null, `$10` and `$11` where header and body begin in the
 * bytes `$12` (base64); `$13` now, ms; `$14` and `$15` first and last day; `$16` to `$18` quota;
 * per copy `$19` whether it goes by the reserve of retired keys.
 *
 * Copies of one upload are stored together or, when a mailbox is gone, not at all (`whole`). Quota is
 * judged smallest first, which makes it exact: whatever is refused would not fit beside what is
 * accepted. Only a mailbox near its quota, or an invite, pays for looking up duplicates (`tight`);
 * elsewhere `on conflict` finds them and a number is skipped.
 */
export const acceptStatement = `
with blob as materialized (select decode($12, 'base64') as bytes),
input as materialized (
  select ord::int as ord, up, mailbox, account, slot, day, array[day] as days, bucket, invite, body_id, header_at, body_at, reserve,
    ${itemOverheadBytes}::int + (1024 << (2 * bucket)) as bytes
  from unnest($2::int[], $3::uuid[], $4::uuid[], $5::uuid[],
    $6::int[], $7::int[], $8::uuid[], $9::uuid[],
    $10::int[], $11::int[], $19::boolean[])
    with ordinality as x(up, mailbox, account, slot, day, bucket, invite, body_id, header_at, body_at, reserve, ord)
),
locked as materialized (
  select mailbox, account, next_seq, queued_items, queued_bytes, large_bytes, reserve_items from mailbox
  where lane = $1 and mailbox = any($3::uuid[]) order by mailbox for update
),
invites as materialized (
  select account, invite, used from invite_key
  where (account, invite) in (select account, invite from input where invite is not null)
    and revoked_at_ms is null
  order by account, invite for update
),
sound as materialized (
  select i.*, m.next_seq, m.queued_items, m.queued_bytes, m.large_bytes, m.reserve_items,
    bool_and(m.mailbox is not null) over (partition by i.up) as whole,
    i.invite is not null or i.reserve
      or m.queued_items + count(*) over box > $16
      or m.queued_bytes + sum(i.bytes) over box > $17
      or (i.bucket >= ${firstLargeBucket} and m.large_bytes + sum(i.bytes) over box > $18) as tight
  from input i left join locked m on m.mailbox = i.mailbox and m.account = i.account
  window box as (partition by i.mailbox)
),
fresh as materialized (
  select s.*, v.used + row_number() over (partition by s.account, s.invite order by s.ord) as invite_count
  from sound s left join invites v on v.account = s.account and v.invite = s.invite
  -- A scalar subquery: the planner may turn exists() into a table of all items of those days.
  where s.whole and not case when s.tight then coalesce((
    select true from item t where t.lane = $1 and t.mailbox = s.mailbox and t.day = any(s.days) and t.slot = s.slot
      and t.day between $14 and $15), false) else false end
),
invited as materialized (
  select f.*, f.invite is null or coalesce(f.invite_count <= ${maxInviteItems}, false) as welcome from fresh f
),
judged as materialized (
  select w.*, w.welcome and case when reserve
    then reserve_items + count(*) filter (where welcome and reserve) over box <= ${maxReserveItems}
    else queued_items + count(*) filter (where welcome and not reserve) over box <= $16
      and queued_bytes + sum(bytes) filter (where welcome and not reserve) over box <= $17
      and (bucket < ${firstLargeBucket} or large_bytes + sum(bytes) filter (where welcome and bucket >= ${firstLargeBucket}) over box <= $18)
    end as fits
  from invited w
  window box as (partition by mailbox order by bucket, ord)
),
numbered as materialized (
  select j.*, next_seq + row_number() over (partition by mailbox order by ord) - 1 as seq from judged j where fits
),
inserted as (
  insert into item (lane, day, mailbox, seq, slot, bucket, source, header, body, body_id)
  select m.lane, n.day, m.mailbox, n.seq, n.slot, n.bucket, case when n.reserve then 2 when n.invite is null then 0 else 1 end,
    substring((select bytes from blob) from n.header_at for ${headerBytes}),
    case when n.body_id is null then substring((select bytes from blob) from n.body_at for n.bytes - ${headerBytes}) end, n.body_id
  from numbered n join mailbox m on m.mailbox = n.mailbox
  where m.lane = $1 and m.mailbox = any($3::uuid[])
  on conflict (lane, mailbox, day, slot) do nothing
  returning mailbox, slot, seq
),
stored as materialized (
  select n.*, i.seq is not null as is_stored from numbered n
  left join inserted i on i.mailbox = n.mailbox and i.slot = n.slot
),
bodies as materialized (
  select day, body_id, body_at, bytes, count(*) as pending, (array_agg(mailbox))[1] as mailbox
  from stored where is_stored and body_id is not null group by day, body_id, body_at, bytes
),
shared as (
  insert into body (lane, day, body_id, pending, body)
  select m.lane, b.day, b.body_id, b.pending, substring((select bytes from blob) from b.body_at for b.bytes - ${headerBytes})
  -- With its limit this looks up one key at a time; a plain join read every mailbox of the batch for each row.
  from bodies b cross join lateral (select lane from mailbox where lane = $1 and mailbox = b.mailbox limit 1) m
  on conflict (lane, day, body_id) do update set pending = body.pending + excluded.pending
),
drawn as (
  select j.mailbox, count(*) filter (where j.fits) as numbers,
    count(*) filter (where j.welcome and not j.fits and not j.reserve) as refused,
    count(*) filter (where s.is_stored and not j.reserve) as items,
    count(*) filter (where s.is_stored and j.reserve) as reserve_items,
    coalesce(sum(j.bytes) filter (where s.is_stored and not j.reserve), 0) as bytes,
    coalesce(sum(j.bytes) filter (where s.is_stored and j.bucket >= ${firstLargeBucket}), 0) as large
  from judged j left join stored s on s.ord = j.ord group by j.mailbox
),
counted as (
  update mailbox set next_seq = mailbox.next_seq + d.numbers, queued_items = mailbox.queued_items + d.items,
    reserve_items = mailbox.reserve_items + d.reserve_items,
    queued_bytes = mailbox.queued_bytes + d.bytes, large_bytes = mailbox.large_bytes + d.large,
    refused_count = mailbox.refused_count + d.refused,
    refused_since_ms = case when d.refused > 0 then coalesce(mailbox.refused_since_ms, $13) else mailbox.refused_since_ms end
  from drawn d where mailbox.lane = $1 and mailbox.mailbox = any($3::uuid[]) and mailbox.mailbox = d.mailbox
),
used as (
  update invite_key set used = invite_key.used + u.items
  from (select account, invite, count(*) as items from stored where is_stored and invite is not null group by account, invite) u
  where invite_key.account = u.account and invite_key.invite = u.invite
)
select s.ord, s.whole, case when st.is_stored then st.seq end as seq, j.fits
from sound s left join judged j on j.ord = s.ord left join stored st on st.ord = s.ord`;
