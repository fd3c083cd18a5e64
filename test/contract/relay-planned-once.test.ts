/**
 * Statements that are planned once for a connection (`planOnce`), perhaps on an empty day: what they
 * read afterwards is counted by the database, which no other work on the machine changes.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { acknowledgeItems } from "../../src/relay/store/acknowledgements.ts";
import { claimSession } from "../../src/relay/store/mailboxes.ts";
import { type Sql, uuidOf } from "../../src/relay/store/sql-values.ts";
import { createMailboxes, mailboxRow, storeDay, storeNowMs } from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

describe.each(testStores())("planned once on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.drop());

  /** Rows and index entries of all items that were read until now. */
  async function readsOf(one: Sql): Promise<number> {
    await one`select pg_stat_force_next_flush()`;
    const [row] = await db.sql<{ reads: number }[]>`
      select (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where relname like 'item_%')::int8
        + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relname like 'item_%')::int8 as reads`;
    return row?.reads ?? 0;
  }

  it("an acknowledgement planned on an empty day reads what it names of a full one", async () => {
    const { mailboxes } = await createMailboxes(db.sql, 1);
    const [mailbox = ""] = mailboxes;
    await claimSession(db.sql, { lane: 0, mailbox });
    // The driver reserves nothing of a pool that has no connection yet.
    await db.database.planOnce`select 1`;
    const one = await db.database.planOnce.reserve();
    const acknowledge = async (count: number): Promise<void> => {
      const items = Array.from({ length: count }, (_, at) => ({ seq: at + 1, day: storeDay }));
      const acknowledgement = { mailbox, session: 1, sentThrough: count, items };
      await acknowledgeItems(one, 0, { acknowledgements: [acknowledgement], nowMs: storeNowMs });
    };
    await acknowledge(1);
    await db.sql`
      insert into item (lane, day, mailbox, seq, slot, bucket, header, body)
      select 0, ${storeDay}::int, ${uuidOf(mailbox)}::uuid, seq, gen_random_uuid(), 0, '\\x01', '\\x01'
      from generate_series(1, 20000) seq`;
    await db.sql`update mailbox set queued_items = 20000, queued_bytes = 1000000000`;
    const before = await readsOf(one);
    await acknowledge(50);
    const reads = (await readsOf(one)) - before;
    one.release();
    expect((await mailboxRow(db.sql, mailbox)).items).toBe(19_950);
    // One entry for each, whichever of the indexes finds it.
    expect(reads).toBeGreaterThanOrEqual(50);
    expect(reads).toBeLessThanOrEqual(200);
  });
});
