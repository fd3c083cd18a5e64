/**
 * Reading what waits in mailboxes: one statement for many mailboxes, each with its own position and
 * room, so that a thousand woken devices do not cost a thousand round trips.
 *
 * Never filters by time: `fromDay` only tells which partitions can hold anything unread.
 */
import { arrayLiteral, itemOverheadBytes, type Sql, uuidOf } from "./sql-values.ts";

/** What one stream asks for. */
export interface ReadRequest {
  readonly mailbox: string;
  /** Only items after this sequence number. */
  readonly afterSeq: number;
  readonly maxItems: number;
  /** Items beyond this total are left where they are. Units: bytes of items. */
  readonly maxBytes: number;
}

/** An item as it waits. */
export interface WaitingItem {
  readonly seq: number;
  readonly day: number;
  readonly bucket: number;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

interface WaitingRow {
  readonly ord: number;
  readonly seq: number;
  readonly day: number;
  readonly bucket: number;
  readonly header: Uint8Array | null;
  readonly body: Uint8Array | null;
}

/** Items in order for each request. Units: `days` is the range of slot days to look at. */
export async function readItems(
  sql: Sql,
  lane: number,
  requests: readonly ReadRequest[],
  days: { readonly from: number; readonly to: number },
): Promise<readonly (readonly WaitingItem[])[]> {
  const column = (of: (request: ReadRequest) => number): string =>
    arrayLiteral(requests.map((request) => of(request)));
  const rows = await sql<WaitingRow[]>`
select q.ord::int as ord, t.seq, t.day, t.bucket, t.header, coalesce(t.body, b.body) as body
from unnest(${arrayLiteral(requests.map((request) => uuidOf(request.mailbox)))}::uuid[],
    ${column((request) => request.afterSeq)}::bigint[], ${column((request) => request.maxItems)}::int[],
    ${column((request) => request.maxBytes)}::int[]) with ordinality as q(mailbox, after_seq, max_items, max_bytes, ord)
cross join lateral (
  select * from (
    select w.*, sum(${itemOverheadBytes}::int + (1024 << (2 * w.bucket))) over (order by w.seq) as through
    from (
      select seq, day, bucket, header, body, body_id from item
      where lane = ${lane} and mailbox = q.mailbox and acked is null and seq > q.after_seq
        and day between ${days.from} and ${days.to}
      order by seq limit q.max_items
    ) w
  ) counted where through <= q.max_bytes
) t
left join body b on b.lane = ${lane} and b.day = t.day and b.body_id = t.body_id
  and b.day between ${days.from} and ${days.to}
order by q.ord, t.seq`;
  const itemsByRequest: WaitingItem[][] = requests.map(() => []);
  for (const { ord, seq, day, bucket, header, body } of rows) {
    if (header === null || body === null) {
      throw new Error("an unacknowledged item lacks its header or body");
    }
    itemsByRequest[ord - 1]?.push({ seq, day, bucket, header, body });
  }
  return itemsByRequest;
}
