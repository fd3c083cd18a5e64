/**
 * Rendezvous boxes: four small, write-once boxes through which a new device is linked. They live ten
 * minutes from the first one written and can be read until then.
 *
 * Spec: docs/protocol.md "Rendezvous".
 */
import { rendezvousMs } from "../../shared/limits.ts";
import { asBuffer, type Sql, uuidOf } from "./sql-values.ts";

/** One box of a rendezvous. */
export interface BoxName {
  readonly id: string;
  /** 1 to 4. */
  readonly box: number;
}

/** Boxes that may exist at once, over everybody: 256 MB. Beyond it new ones are `full`. */
export const maxLiveBoxes = 16_384;

/** Writes a box once. */
export async function putBox(
  sql: Sql,
  { id, box }: BoxName,
  content: Uint8Array,
  nowMs: number,
): Promise<"stored" | "taken" | "full"> {
  const [row] = await sql<{ stored: boolean; taken: boolean }[]>`
with put as (
  insert into rendezvous (id, box, content, expires_at_ms)
  select ${uuidOf(id)}::uuid, ${box}::smallint, ${asBuffer(content)},
    coalesce((select min(expires_at_ms) from rendezvous where id = ${uuidOf(id)} and expires_at_ms > ${nowMs}), ${nowMs + rendezvousMs}::bigint)
  where (select count(*) from (select 1 from rendezvous where expires_at_ms > ${nowMs} limit ${maxLiveBoxes}) live) < ${maxLiveBoxes}
  on conflict (id, box) do update set content = excluded.content, expires_at_ms = excluded.expires_at_ms
  where rendezvous.expires_at_ms <= ${nowMs}
  returning id
)
select exists (select 1 from put) as stored,
  exists (select 1 from rendezvous where id = ${uuidOf(id)} and box = ${box} and expires_at_ms > ${nowMs}) as taken`;
  if (row?.stored === true) return "stored";
  return row?.taken === true ? "taken" : "full";
}

/** Reads a box. */
export async function readBox(
  sql: Sql,
  { id, box }: BoxName,
  nowMs: number,
): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ content: Uint8Array }[]>`
    select content from rendezvous where id = ${uuidOf(id)} and box = ${box} and expires_at_ms > ${nowMs}`;
  return row?.content;
}
