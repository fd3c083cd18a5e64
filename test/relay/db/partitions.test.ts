/** Day partitions on every store: made ahead, dropped when expired, by several processes at once. */
import { afterEach, describe, expect, it } from "vitest";

import { openDatabase, type Database } from "../../../src/relay/db/client.ts";
import { dropPartitionsBefore, ensureDayPartitions } from "../../../src/relay/db/partitions.ts";
import { createLog } from "../../../src/relay/log.ts";
import { testStores, type TestDatabase } from "../../support/postgres.ts";

let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});

async function partitions({ sql }: TestDatabase): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent in ('item'::regclass, 'body'::regclass) order by 1`;
  return rows.map(({ name }) => name);
}

function insertItem({ sql }: TestDatabase, day: number): Promise<unknown> {
  return sql`
    insert into item (lane, day, mailbox, seq, slot, bucket, header, body)
    values (0, ${day}, gen_random_uuid(), 1, gen_random_uuid(), 0, ${Buffer.alloc(1_176, 7)}, ${Buffer.alloc(1_072, 9)})`;
}

describe.each(testStores())("day partitions on $name", ({ open }) => {
  it("makes both tables of every day, ends included", async () => {
    db = await open();
    await ensureDayPartitions(db.sql, 20_000, 20_001);
    expect(await partitions(db)).toEqual(["body_20000", "body_20001", "item_20000", "item_20001"]);
    await insertItem(db, 20_000);
    await insertItem(db, 20_001);
    await expect(insertItem(db, 20_002)).rejects.toThrow(/no partition/);
  });

  it("is idempotent and survives several processes at once", async () => {
    db = await open();
    const log = createLog({ level: "silent" });
    const relays: Database[] = [];
    try {
      for (let i = 0; i < 4; i++) {
        const opened = await openDatabase({ databaseUrl: db.url, dataDir: "", log });
        if (opened.ok) relays.push(opened.value);
      }
      await Promise.all(relays.map(({ sql }) => ensureDayPartitions(sql, 20_000, 20_005)));
      expect(relays).toHaveLength(4);
      expect(await partitions(db)).toHaveLength(12);
    } finally {
      await Promise.all(relays.map((relay) => relay.close()));
    }
  });

  it("drops every day before, and only those", async () => {
    db = await open();
    await ensureDayPartitions(db.sql, 9_999, 10_001);
    await insertItem(db, 9_999);
    expect(await dropPartitionsBefore(db.sql, 10_001)).toBe(4);
    expect(await partitions(db)).toEqual(["body_10001", "item_10001"]);
    expect(await dropPartitionsBefore(db.sql, 10_001)).toBe(0);
  });

  it("gives up rather than hold accepts behind a long reader", async () => {
    db = await open();
    await ensureDayPartitions(db.sql, 20_000, 20_000);
    const reader = await db.sql.reserve();
    try {
      await reader`begin`;
      await reader`select count(*) from item`;
      await expect(dropPartitionsBefore(db.sql, 20_001)).rejects.toMatchObject({ code: "55P03" });
      // A new day needs a weaker lock, and gets it.
      await ensureDayPartitions(db.sql, 20_001, 20_001);
      await reader`commit`;
    } finally {
      reader.release();
    }
    expect(await dropPartitionsBefore(db.sql, 20_001)).toBe(2);
  });

  it("keeps an item of the smallest bucket in its row, uncompressed", async () => {
    db = await open();
    await ensureDayPartitions(db.sql, 20_000, 20_000);
    await insertItem(db, 20_000);
    const [size] = await db.sql<{ toast: number }[]>`
      select pg_relation_size(reltoastrelid)::int as toast from pg_class where relname = 'item_20000'`;
    expect(size?.toast).toBe(0);
  });

  it("carries the partial index of what is not acknowledged to each partition", async () => {
    db = await open();
    await ensureDayPartitions(db.sql, 20_000, 20_000);
    const rows = await db.sql<{ indexdef: string }[]>`
      select indexdef from pg_indexes where tablename = 'item_20000'`;
    expect(rows.map(({ indexdef }) => indexdef.replace(/.* USING /, "")).toSorted()).toEqual([
      "btree (lane, mailbox, day, seq)",
      "btree (lane, mailbox, day, slot)",
      "btree (lane, mailbox, seq) WHERE (acked IS NULL)",
    ]);
  });
});
