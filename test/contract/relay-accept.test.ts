import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { acknowledgeItems, releaseBodies } from "../../src/relay/store/acknowledgements.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { type CheckedUpload, insertItems } from "../../src/relay/store/items.ts";
import { claimSession } from "../../src/relay/store/mailboxes.ts";
import { uuidOf } from "../../src/relay/store/sql-values.ts";
import { itemBytes } from "../../src/relay/delivery/window.ts";
import {
  bodyCounts,
  countedItems,
  createMailboxes,
  insertBatch,
  mailboxRow,
  newId,
  states,
  storeDay,
  storeDays,
  storeNowMs,
  storeUpload,
  waitingItems,
} from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

describe.each(testStores())("accepting on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.drop());

  const insert = (...uploads: CheckedUpload[]) => insertBatch(db.sql, uploads);
  const waiting = (mailbox: string, lane = 0) => waitingItems(db.sql, mailbox, lane);

  it("R17, R18: a repeated slot is a duplicate with nothing changed, acknowledged or not", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const [mailbox = ""] = bob.mailboxes;
    const upload = storeUpload(bob);
    expect(states(await insert(upload))).toEqual([["stored"]]);
    const before = await waiting(mailbox);
    expect(states(await insert(upload, storeUpload(bob)))).toEqual([["duplicate"], ["stored"]]);
    expect((await waiting(mailbox))[0]).toEqual(before[0]);

    const session = await claimSession(db.sql, { lane: 0, mailbox });
    const [item] = before;
    const acked = await acknowledgeItems(db.sql, 0, {
      acknowledgements: [
        {
          mailbox,
          session: session?.session ?? 0,
          sentThrough: 1,
          items: [{ seq: item!.seq, day: item!.day }],
        },
      ],
      nowMs: storeNowMs,
    });
    expect(acked.current).toEqual([true]);
    expect(states(await insert(upload))).toEqual([["duplicate"]]);
    expect(await waiting(mailbox)).toHaveLength(1);
    expect(await mailboxRow(db.sql, mailbox)).toMatchObject(await countedItems(db.sql, mailbox));
  });

  it("R13: somebody else's content under a used slot replaces nothing and reaches no other body", async () => {
    const bob = await createMailboxes(db.sql, 3);
    const [a = "", b = "", c = ""] = bob.mailboxes;
    const upload = storeUpload(bob, { bucket: 1, to: [a, b] });
    await insert(upload);
    const forged = storeUpload(bob, { bucket: 1, slot: upload.slot, to: [a, b, c] });
    expect(states(await insert(forged))).toEqual([["duplicate", "duplicate", "stored"]]);
    expect(Buffer.from((await waiting(a))[0]!.body).equals(upload.body)).toBe(true);
    expect(Buffer.from((await waiting(b))[0]!.body).equals(upload.body)).toBe(true);
    expect(Buffer.from((await waiting(c))[0]!.body).equals(forged.body)).toBe(true);
  });

  it("R15: after one full mailbox a retry stores one copy each", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const [a = "", b = ""] = bob.mailboxes;
    const tiny = { items: 1, bytes: 2 ** 30, largeBytes: 2 ** 30 };
    const batch = (upload: CheckedUpload, quota = tiny) =>
      insertItems(db.database.planOnce, 0, { uploads: [upload], nowMs: storeNowMs }, quota);
    await batch(storeUpload(bob, { to: [b] }));
    const upload = storeUpload(bob, { bucket: 1 });
    expect(states(await batch(upload))).toEqual([["stored", "full"]]);
    expect((await mailboxRow(db.sql, b)).refused).toBe(1);
    expect(states(await batch(upload, { ...tiny, items: 2 }))).toEqual([["duplicate", "stored"]]);
    expect(await waiting(a)).toHaveLength(1);
    expect(await waiting(b)).toHaveLength(2);
    for (const item of [(await waiting(a))[0], (await waiting(b))[1]]) {
      expect(Buffer.from(item!.body).equals(upload.body)).toBe(true);
    }
  });

  it("a duplicate is never full", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const one = { items: 1, bytes: 2 ** 30, largeBytes: 2 ** 30 };
    const upload = storeUpload(bob);
    const batch = (...uploads: CheckedUpload[]) =>
      insertItems(db.database.planOnce, 0, { uploads, nowMs: storeNowMs }, one);
    await batch(upload);
    expect(states(await batch(storeUpload(bob), upload))).toEqual([["full"], ["duplicate"]]);
  });

  it("an upload with a mailbox that is gone stores nothing, and leaves the others of its batch alone", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const eve = await createMailboxes(db.sql, 1);
    const [a = "", b = ""] = bob.mailboxes;
    const outcomes = await insert(
      storeUpload(bob, { to: [a, newId()] }),
      storeUpload(bob, { to: [b] }),
      storeUpload(bob, { to: [a, eve.mailboxes[0] ?? ""] }),
    );
    expect(states(outcomes)).toEqual([["gone", "gone"], ["stored"], ["gone", "gone"]]);
    expect(await waiting(a)).toHaveLength(0);
    expect(await waiting(b)).toHaveLength(1);
  });

  it("R51: a large item that does not fit refuses itself only, whatever its place in the batch", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const quota = { items: 500, bytes: itemBytes(4) + 2 * itemBytes(0), largeBytes: itemBytes(4) };
    const outcomes = await insertItems(
      db.sql,
      0,
      {
        uploads: [4, 4, 0, 3, 0].map((bucket) => storeUpload(bob, { bucket })),
        nowMs: storeNowMs,
      },
      quota,
    );
    // Smallest first: both small ones and the 64 KiB one fit, and then no 256 KiB one.
    expect(states(outcomes).flat()).toEqual(["full", "full", "stored", "stored", "stored"]);
  });

  it("judges the quota exactly: counts stay right, and whatever is refused would not have fitted", async () => {
    const quota = { items: 6, bytes: 40_000, largeBytes: 18_000 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 4,
        }),
        async (batches) => {
          const bob = await createMailboxes(db.sql, 1);
          const [mailbox = ""] = bob.mailboxes;
          for (const buckets of batches) {
            const uploads = buckets.map((bucket) => storeUpload(bob, { bucket }));
            const outcomes = await insertItems(
              db.database.planOnce,
              0,
              { uploads, nowMs: storeNowMs },
              quota,
            );
            const row = await mailboxRow(db.sql, mailbox);
            expect(row).toMatchObject(await countedItems(db.sql, mailbox));
            expect(row.items).toBeLessThanOrEqual(quota.items);
            expect(row.bytes).toBeLessThanOrEqual(quota.bytes);
            for (const [index, bucket] of buckets.entries()) {
              if (outcomes[index]?.[0]?.state !== "full") continue;
              expect(
                row.items + 1 > quota.items || row.bytes + itemBytes(bucket) > quota.bytes,
              ).toBe(true);
            }
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it("counts invite items over all devices and refuses the 21st", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const invite = newId();
    await db.sql`insert into invite_key (account, invite, key, created_at_ms, expires_at_ms)
      values (${uuidOf(bob.account)}, ${uuidOf(invite)}, ${Buffer.alloc(32)}, 0, ${storeNowMs + 1})`;
    const uploads = Array.from({ length: 11 }, () => storeUpload(bob, { invite }));
    const outcomes = states(await insert(...uploads)).flat();
    expect(outcomes.filter((state) => state === "stored")).toHaveLength(20);
    expect(outcomes.filter((state) => state === "full")).toHaveLength(2);
    expect(states(await insert(uploads[0]!))).toEqual([["duplicate", "duplicate"]]);
    const [row] = await db.sql`select used from invite_key where invite = ${uuidOf(invite)}`;
    expect(row?.["used"]).toBe(20);
    // An exhausted invite is not the mailbox's overflow.
    expect((await mailboxRow(db.sql, bob.mailboxes[0] ?? "")).refused).toBe(0);
  });

  it("shares a body beyond the smallest, until its last item is acknowledged and no longer", async () => {
    const fresh = await open();
    try {
      const bob = await createMailboxes(fresh.sql, 3);
      const upload = storeUpload(bob, { bucket: 1 });
      const lone = storeUpload(bob, { bucket: 1, to: bob.mailboxes.slice(0, 1) });
      await insertItems(fresh.database.planOnce, 0, {
        uploads: [upload, lone, storeUpload(bob)],
        nowMs: storeNowMs,
      });
      expect(await bodyCounts(fresh.sql)).toEqual([{ pending: 3, items: 3 }]);
      for (const [index, mailbox] of bob.mailboxes.entries()) {
        const session = await claimSession(fresh.sql, { lane: 0, mailbox });
        const { released } = await acknowledgeItems(fresh.sql, 0, {
          acknowledgements: [
            {
              mailbox,
              session: session?.session ?? 0,
              sentThrough: 1,
              items: [{ seq: 1, day: storeDay }],
            },
          ],
          nowMs: storeNowMs,
        });
        await releaseBodies(fresh.sql, 0, released);
        const left = bob.mailboxes.length - 1 - index;
        expect(await bodyCounts(fresh.sql)).toEqual(
          left === 0 ? [] : [{ pending: left, items: left }],
        );
      }
      // A late retry neither delivers again nor leaves a body behind.
      await insertItems(fresh.database.planOnce, 0, { uploads: [upload], nowMs: storeNowMs });
      expect(await bodyCounts(fresh.sql)).toEqual([]);
    } finally {
      await fresh.drop();
    }
  });

  it("R49: reads split by bytes and by number, in order, each item whole", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const [mailbox = ""] = bob.mailboxes;
    const uploads = [4, 0, 4, 1].map((bucket) => storeUpload(bob, { bucket }));
    await insert(...uploads);
    const read = async (afterSeq: number, maxItems: number, maxBytes: number) => {
      const [items = []] = await readItems(
        db.sql,
        0,
        [{ mailbox, afterSeq, maxItems, maxBytes }],
        storeDays,
      );
      return items.map((item) => item.seq);
    };
    expect(await read(0, 10, itemBytes(4) + itemBytes(0))).toEqual([1, 2]);
    expect(await read(0, 10, itemBytes(4) - 1)).toEqual([]);
    expect(await read(2, 1, 2 ** 30)).toEqual([3]);
    expect((await waiting(mailbox)).map((item) => item.body.length)).toEqual(
      uploads.map((upload) => upload.body.length),
    );
  });

  it("R52: headers and bodies come back byte for byte, whatever bytes they are", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const every = Uint8Array.from({ length: 1_072 }, (_, index) => index & 0xff);
    const upload = storeUpload(bob, { body: every });
    await insert(upload);
    for (const [index, mailbox] of bob.mailboxes.entries()) {
      const [item] = await waiting(mailbox);
      expect(Buffer.from(item!.body).equals(every)).toBe(true);
      expect(Buffer.from(item!.header).equals(upload.copies[index]!.header)).toBe(true);
    }
  });

  it("keeps lanes apart", async () => {
    const bob = await createMailboxes(db.sql, 2, 3);
    expect(states(await insert(storeUpload(bob)))).toEqual([["gone", "gone"]]);
    const outcomes = await insertItems(db.database.planOnce, 3, {
      uploads: [storeUpload(bob)],
      nowMs: storeNowMs,
    });
    expect(states(outcomes)).toEqual([["stored", "stored"]]);
    expect(await waiting(bob.mailboxes[0] ?? "")).toEqual([]);
    expect(await waiting(bob.mailboxes[0] ?? "", 3)).toHaveLength(1);
  });
});
