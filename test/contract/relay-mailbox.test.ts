import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { acknowledgeItems } from "../../src/relay/store/acknowledgements.ts";
import { readItems } from "../../src/relay/store/deliveries.ts";
import { dropDaysBefore, ensureDays, expireItems } from "../../src/relay/store/expiry.ts";
import { insertItems } from "../../src/relay/store/items.ts";
import { claimSession, mailboxStatus, markSent } from "../../src/relay/store/mailboxes.ts";
import { maxLiveBoxes, putBox, readBox } from "../../src/relay/store/rendezvous.ts";
import { readRelayState } from "../../src/relay/store/relay-state.ts";
import { rendezvousMs } from "../../src/shared/limits.ts";
import {
  bodyCounts,
  countedItems,
  createMailboxes,
  mailboxRow,
  newId,
  storeDay,
  storeNowMs,
  storeUpload,
} from "../support/mailboxes.ts";
import { type TestDatabase, testStores } from "../support/postgres.ts";

const days = { from: 0, to: storeDay + 2 };

describe.each(testStores())("mailboxes on $name", ({ open }) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await open();
    await ensureDays(db.sql, storeDay - 1, storeDay + 2);
  });
  afterAll(() => db.drop());

  const waiting = async (mailbox: string): Promise<number[]> => {
    const request = { mailbox, afterSeq: 0, maxItems: 1_000, maxBytes: 2 ** 30 };
    const [items = []] = await readItems(db.sql, 0, [request], days);
    return items.map((item) => item.seq);
  };

  it("R4: acknowledges exactly the named items, never a range", async () => {
    const bob = await createMailboxes(db.sql, 1);
    const [mailbox = ""] = bob.mailboxes;
    await insertItems(db.sql, 0, {
      uploads: Array.from({ length: 5 }, () => storeUpload(bob)),
      nowMs: storeNowMs,
    });
    const session = await claimSession(db.sql, { lane: 0, mailbox });
    expect(session).toMatchObject({ session: 1, through: 5, queuedItems: 5, sentThrough: 0 });
    const acknowledgement = {
      mailbox,
      session: 1,
      sentThrough: 5,
      items: [2, 4, 99].map((seq) => ({ seq, day: storeDay })),
    };
    const batch = { acknowledgements: [acknowledgement], nowMs: storeNowMs };
    await acknowledgeItems(db.sql, 0, batch);
    expect(await waiting(mailbox)).toEqual([1, 3, 5]);
    // Again: idempotent, and the counts do not sink below what is there.
    await acknowledgeItems(db.sql, 0, batch);
    expect(await waiting(mailbox)).toEqual([1, 3, 5]);
    expect(await mailboxRow(db.sql, mailbox)).toMatchObject(await countedItems(db.sql, mailbox));
    expect(await claimSession(db.sql, { lane: 0, mailbox })).toMatchObject({
      session: 2,
      sentThrough: 5,
    });
  });

  it("an acknowledgement of a displaced connection changes nothing", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const [mailbox = "", other = ""] = bob.mailboxes;
    await insertItems(db.sql, 0, { uploads: [storeUpload(bob)], nowMs: storeNowMs });
    for (const box of [mailbox, mailbox, other])
      await claimSession(db.sql, { lane: 0, mailbox: box });
    const mark = { sentThrough: 1, items: [{ seq: 1, day: storeDay }] };
    const { current } = await acknowledgeItems(db.sql, 0, {
      acknowledgements: [
        { mailbox, session: 1, ...mark },
        { mailbox: other, session: 1, ...mark },
        { mailbox: newId(), session: 1, ...mark },
      ],
      nowMs: storeNowMs,
    });
    expect(current).toEqual([false, true, false]);
    expect(await waiting(mailbox)).toEqual([1]);
    expect(await waiting(other)).toEqual([]);
    await markSent(db.sql, { lane: 0, mailbox, session: 1 }, 1);
    expect(await claimSession(db.sql, { lane: 0, mailbox })).toMatchObject({ sentThrough: 0 });
    expect(await mailboxStatus(db.sql, { lane: 0, mailbox, session: 1 })).toBeUndefined();
  });

  it("expiry gives the room of dropped items back and leaves every count right", async () => {
    const bob = await createMailboxes(db.sql, 2);
    const [mailbox = ""] = bob.mailboxes;
    const old = storeDay - 40;
    await ensureDays(db.sql, old, old);
    const upload = (day: number, bucket: number) => storeUpload(bob, { day, bucket });
    await insertItems(db.sql, 0, {
      uploads: [upload(old, 3), upload(old, 0), upload(storeDay, 1)],
      nowMs: storeNowMs,
    });
    expect(await expireItems(db.sql, 0, storeDay - 31)).toBe(4);
    expect(await dropDaysBefore(db.sql, storeDay - 31)).toBe(2);
    expect(await waiting(mailbox)).toEqual([3]);
    for (const box of bob.mailboxes) {
      expect(await mailboxRow(db.sql, box)).toMatchObject(await countedItems(db.sql, box));
    }
    expect((await mailboxRow(db.sql, mailbox)).items).toBe(1);
  });

  it("a box is written once, read until ten minutes after the first, then free again", async () => {
    const id = newId();
    const put = (box: number, nowMs: number) =>
      putBox(db.sql, { id, box }, Uint8Array.of(box, 0, 255), nowMs);
    expect(await put(1, storeNowMs)).toBe("stored");
    expect(await put(1, storeNowMs)).toBe("taken");
    expect(await put(2, storeNowMs + rendezvousMs - 1)).toBe("stored");
    const read = (box: number, nowMs: number) => readBox(db.sql, { id, box }, nowMs);
    expect(await read(1, storeNowMs + rendezvousMs - 1)).toEqual(Buffer.from([1, 0, 255]));
    expect(await read(2, storeNowMs + rendezvousMs)).toBeUndefined();
    expect(await read(3, storeNowMs)).toBeUndefined();
    expect(await put(1, storeNowMs + rendezvousMs)).toBe("stored");
  });

  it("bounds the boxes of everybody together", async () => {
    await db.sql`insert into rendezvous (id, box, content, expires_at_ms)
      select gen_random_uuid(), 1, '\\x00', ${storeNowMs * 2} from generate_series(1, ${maxLiveBoxes}::int)`;
    expect(await putBox(db.sql, { id: newId(), box: 1 }, Uint8Array.of(1), storeNowMs)).toBe(
      "full",
    );
    await db.sql`delete from rendezvous`;
    expect(await putBox(db.sql, { id: newId(), box: 1 }, Uint8Array.of(1), storeNowMs)).toBe(
      "stored",
    );
  });

  it("names its epoch and lanes", async () => {
    expect(await readRelayState(db.sql)).toEqual({
      epoch: expect.stringMatching(/^[0-9a-f-]{36}$/),
      lanes: 1,
    });
    expect((await bodyCounts(db.sql)).every((body) => body.pending >= body.items)).toBe(true);
  });
});
