/**
 * The database's own limit: the rows of envelopes inserted in batches of 256 by one connection,
 * nothing verified, numbered, counted, delivered or acknowledged.
 */
import type { Sql } from "../src/relay/store/sql-values.ts";
import { dayOf } from "../src/shared/clock.ts";
import { systemRng } from "../src/shared/rng.ts";

const batchRows = 256;

/** Makes the table. */
export async function createBatchTable(sql: Sql): Promise<void> {
  await sql`create table bench_row (lane int, day int, mailbox uuid, seq bigint, slot uuid, header bytea, body bytea,
    primary key (lane, mailbox, day, seq), unique (lane, mailbox, day, slot))`;
  await sql`alter table bench_row alter header set storage external, alter body set storage external`;
  await sql`alter table bench_row set (toast_tuple_target = 4080)`;
}

/** Rows per second. */
export async function insertBatches(sql: Sql, rows: number): Promise<number> {
  const batches = Array.from({ length: Math.max(1, Math.floor(rows / batchRows)) }, () => ({
    headers: Array.from({ length: batchRows }, () => text(1_176)).join(","),
    bodies: Array.from({ length: batchRows }, () => text(1_072)).join(","),
  }));
  const day = dayOf(Date.now());
  const startMs = performance.now();
  for (const { headers, bodies } of batches) {
    await sql`insert into bench_row (lane, day, mailbox, seq, slot, header, body)
      select 0, ${day}::int, gen_random_uuid(), 1, gen_random_uuid(), decode(h, 'base64'), decode(b, 'base64')
      from unnest(string_to_array(${headers}, ','), string_to_array(${bodies}, ',')) as x(h, b)`;
  }
  const elapsedMs = performance.now() - startMs;
  await sql`truncate bench_row`;
  return ((batches.length * batchRows) / elapsedMs) * 1_000;
}

function text(bytes: number): string {
  return Buffer.from(systemRng(bytes)).toString("base64");
}
