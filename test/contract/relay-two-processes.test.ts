import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { acknowledgeItems, releaseBodies } from "../../src/relay/store/acknowledgements.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { type CheckedUpload, insertItems } from "../../src/relay/store/items.ts";
import { claimSession, markSent } from "../../src/relay/store/mailboxes.ts";
import { openDatabase } from "../../src/relay/db/client.ts";
import { createLog } from "../../src/relay/log.ts";
import {
  bodyCounts,
  countedItems,
  createMailboxes,
  insertBatch,
  mailboxRow,
  states,
  storeDay,
  storeDays,
  storeNowMs,
  storeUpload,
  waitingItems,
} from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

describe.each(testStores())("two relays on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.drop());

  const insert = (...uploads: CheckedUpload[]) => insertBatch(db.sql, uploads);
  const waiting = (mailbox: string, lane = 0) => waitingItems(db.sql, mailbox, lane);

  it("R5, R9: two relays on one database: numbers never appear below one already read", async () => {
    const bob = await createMailboxes(db.sql, 4);
    const [mailbox = ""] = bob.mailboxes;
    const second = await openDatabase({
      databaseUrl: db.url,
      dataDir: "",
      log: createLog({ level: "silent" }),
    });
    if (!second.ok) throw new Error(second.error.message);
    let writing = true;
    const write = async (sql: typeof db.sql): Promise<number> => {
      let stored = 0;
      for (let batch = 0; batch < 25; batch++) {
        const uploads = Array.from({ length: 4 }, () => storeUpload(bob));
        const outcomes = await insertItems(sql, 0, { uploads, nowMs: storeNowMs });
        stored += outcomes.flat().filter((copy) => copy.state === "stored").length;
      }
      return stored;
    };
    const read = async (): Promise<number[]> => {
      const seen: number[] = [];
      for (let last = false; ; last = !writing) {
        const [items = []] = await readItems(
          db.sql,
          0,
          [{ mailbox, afterSeq: seen.at(-1) ?? 0, maxItems: 16, maxBytes: 2 ** 30 }],
          storeDays,
        );
        seen.push(...items.map((item) => item.seq));
        if (last && items.length === 0) return seen;
      }
    };
    const reading = read();
    const stored = await Promise.all([write(db.sql), write(second.value.sql)]);
    writing = false;
    const seen = await reading;
    await second.value.close();
    expect(stored).toEqual([400, 400]);
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(await mailboxRow(db.sql, mailbox)).toMatchObject(await countedItems(db.sql, mailbox));
  });

  it("two relays that are sent one upload at once store one copy", async () => {
    const bob = await createMailboxes(db.sql, 2);
    for (let round = 0; round < 10; round++) {
      const upload = storeUpload(bob, { bucket: 1 });
      const outcomes = await Promise.all([insert(upload), insert(upload), insert(upload)]);
      const flat = outcomes.flatMap(states).flat().toSorted();
      expect(flat).toEqual([
        "duplicate",
        "duplicate",
        "duplicate",
        "duplicate",
        "stored",
        "stored",
      ]);
    }
    for (const mailbox of bob.mailboxes) {
      expect(await mailboxRow(db.sql, mailbox)).toMatchObject(await countedItems(db.sql, mailbox));
      expect(await waiting(mailbox)).toHaveLength(10);
    }
    for (const { pending, items } of await bodyCounts(db.sql)) expect(pending).toBe(items);
  });

  it("R39: accepting, acknowledging and marking cross each other, and none waits in a circle", async () => {
    const bob = await createMailboxes(db.sql, 60);
    const forwards = bob.mailboxes;
    const backwards = forwards.toReversed();
    const sessions = new Map<string, number>();
    for (const mailbox of forwards) {
      const session = await claimSession(db.sql, { lane: 0, mailbox });
      sessions.set(mailbox, session?.session ?? 0);
    }
    const accept = async (to: readonly string[]): Promise<void> => {
      for (let batch = 0; batch < 20; batch++) {
        await insert(storeUpload(bob, { to }), storeUpload(bob, { to: to.slice(batch) }));
      }
    };
    const acknowledge = async (order: readonly string[]): Promise<void> => {
      for (let from = 1; from < 60; from += 4) {
        const acknowledgements = order.map((mailbox) => ({
          mailbox,
          session: sessions.get(mailbox) ?? 0,
          sentThrough: from + 3,
          items: [0, 1, 2, 3].map((at) => ({ seq: from + at, day: storeDay })),
        }));
        const { released } = await acknowledgeItems(db.sql, 0, {
          acknowledgements,
          nowMs: storeNowMs,
        });
        await releaseBodies(db.sql, 0, released.toReversed());
      }
    };
    const mark = async (order: readonly string[]): Promise<void> => {
      for (let round = 1; round <= 4; round++) {
        for (const mailbox of order) {
          const hold = { lane: 0, mailbox, session: sessions.get(mailbox) ?? 0 };
          await markSent(db.sql, hold, round);
        }
      }
    };
    // A deadlock is an error of one of them (40P01), and nothing here tries again.
    const both = [forwards, backwards];
    await Promise.all(both.flatMap((order) => [accept(order), acknowledge(order), mark(order)]));
    for (const mailbox of forwards) {
      expect(await mailboxRow(db.sql, mailbox)).toMatchObject(await countedItems(db.sql, mailbox));
    }
    for (const { pending, items } of await bodyCounts(db.sql)) expect(pending).toBe(items);
  });
});
