import { describe, expect, it } from "vitest";

import { type AcceptOptions, createAccept } from "../../../src/relay/delivery/accept.ts";
import { anyPosition, type Fresh, type News } from "../../../src/relay/delivery/wakeup.ts";
import type { CheckedUpload, CopyOutcome } from "../../../src/relay/store/items.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newId, storeUpload } from "../../support/mailboxes.ts";

const bob = { account: newId(), mailboxes: [newId(), newId()] };
const upload = (change: Parameters<typeof storeUpload>[1] = {}): CheckedUpload =>
  storeUpload(bob, { to: bob.mailboxes.slice(0, 1), ...change });

/** An accept whose commits a test lets happen, one batch at a time. */
function harness(change: Partial<AcceptOptions> = {}) {
  const clock = createManualClock();
  const batches: CheckedUpload[][] = [];
  const news: News[] = [];
  const fresh: Fresh[] = [];
  const failures: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  let seq = 0;
  const stored = (): CopyOutcome => ({ state: "stored", seq: ++seq });
  const accept = createAccept({
    insert: (uploads) => {
      batches.push([...uploads]);
      return new Promise((resolve, reject) => {
        pending.push((error) => {
          if (error === undefined) resolve(uploads.map((each) => each.copies.map(stored)));
          else reject(error);
        });
      });
    },
    ensureDay: () => Promise.resolve(),
    wake: (each, items) => {
      news.push(each);
      fresh.push(items);
    },
    clock,
    onFailure: (code) => void failures.push(code),
    ...change,
  });
  const commit = async (error?: Error): Promise<void> => {
    pending.shift()?.(error);
    await clock.advance(0);
  };
  return { accept, batches, news, fresh, failures, commit, clock, pending };
}

const databaseError = (code: string): Error => Object.assign(new Error(code), { code });
const sizes = (batches: readonly (readonly CheckedUpload[])[]): number[] =>
  batches.map((batch) => batch.length);

describe("accept", () => {
  it("flushes at once when idle, and everything that came meanwhile next", async () => {
    const { accept, batches, commit, news } = harness();
    const results = [accept(upload()), accept(upload()), accept(upload())];
    expect(sizes(batches)).toEqual([1]);
    await commit();
    expect(sizes(batches)).toEqual([1, 2]);
    await commit();
    for (const result of await Promise.all(results)) {
      expect(result).toMatchObject({ ok: true, value: [{ state: "stored" }] });
    }
    expect(news.at(-1)?.get(bob.mailboxes[0] ?? "")).toBe(3);
  });

  it("hands over what was stored, in order of its numbers, once it is committed", async () => {
    const { accept, commit, fresh } = harness();
    const uploads = [upload(), upload(), upload()];
    const results = uploads.map(accept);
    await commit();
    await commit();
    await Promise.all(results);
    const items = fresh.flatMap((each) => each.get(bob.mailboxes[0] ?? "") ?? []);
    expect(items.map((item) => [item.seq, item.body])).toEqual(
      uploads.map((each, index) => [index + 1, each.body]),
    );
  });

  it("says nothing before the commit", async () => {
    const { accept, commit, clock, news } = harness();
    let answered = false;
    const result = accept(upload()).then((outcome) => {
      answered = true;
      return outcome;
    });
    await clock.advance(9_999);
    expect([answered, news]).toEqual([false, []]);
    await commit();
    await result;
    expect(answered).toBe(true);
  });

  it("cuts batches at 512 rows and at 1 MiB", async () => {
    const rows = harness();
    const shared = { account: newId(), mailboxes: Array.from({ length: 8 }, newId) };
    for (let i = 0; i < 71; i++) void rows.accept(storeUpload(shared));
    await rows.commit();
    await rows.commit();
    expect(sizes(rows.batches)).toEqual([1, 64, 6]);
    const bytes = harness();
    for (let i = 0; i < 9; i++) void bytes.accept(upload({ bucket: 4 }));
    await bytes.commit();
    await bytes.commit();
    await bytes.commit();
    expect(sizes(bytes.batches)).toEqual([1, 3, 3, 2]);
  });

  it("never puts one slot into a batch twice", async () => {
    const { accept, batches, commit } = harness();
    void accept(upload());
    const twice = upload();
    for (const each of [upload(), twice, upload(), twice, upload()]) void accept(each);
    await commit();
    await commit();
    expect(sizes(batches)).toEqual([1, 3, 2]);
  });

  it("R39: refuses as overloaded beyond 4,096 waiting rows or 16 MiB, and takes more once they are written", async () => {
    const { accept, commit, pending } = harness();
    for (let i = 0; i < 4_097; i++) void accept(upload());
    expect(await accept(upload())).toMatchObject({ ok: false, error: { type: "overloaded" } });
    await commit();
    void accept(upload());
    expect(pending).toHaveLength(1);
    const large = harness();
    const filling = Array.from({ length: 64 }, () => large.accept(upload({ bucket: 4 })));
    expect(await Promise.race([large.accept(upload({ bucket: 4 })), ...filling])).toMatchObject({
      error: { type: "overloaded" },
    });
  });

  it("answers overloaded at its own deadline when a commit hangs, and goes on after it", async () => {
    const { accept, commit, clock, batches } = harness();
    const hung = [accept(upload()), accept(upload())];
    await clock.advance(10_000);
    for (const result of await Promise.all(hung)) {
      expect(result).toMatchObject({ ok: false, error: { type: "overloaded", retryMs: 1_000 } });
    }
    const later = accept(upload());
    await commit();
    await commit();
    expect(sizes(batches)).toEqual([1, 2]);
    expect(await later).toMatchObject({ ok: true });
  });

  it("wakes streams after a failed commit and after a duplicate: either may have been stored", async () => {
    const { accept, commit, news, failures } = harness();
    const lost = accept(upload());
    await commit(databaseError("CONNECTION_CLOSED"));
    expect(await lost).toMatchObject({ ok: false, error: { type: "overloaded" } });
    expect(failures).toEqual(["CONNECTION_CLOSED"]);
    expect(news).toEqual([new Map([[bob.mailboxes[0], anyPosition]])]);
    const again = harness({
      insert: async (uploads) => uploads.map(() => [{ state: "duplicate" }]),
    });
    await again.accept(upload());
    expect(again.news).toEqual([new Map([[bob.mailboxes[0], anyPosition]])]);
  });

  it("runs a deadlocked statement again, and makes a missing partition first", async () => {
    const days: number[] = [];
    const errors = ["40P01", "23514"];
    const { accept, failures } = harness({
      insert: async (uploads) => {
        const code = errors.shift();
        if (code !== undefined) throw databaseError(code);
        return uploads.map(() => [{ state: "stored", seq: 1 }]);
      },
      ensureDay: async (day) => void days.push(day),
    });
    const sent = upload({ day: 7 });
    expect(await accept(sent)).toMatchObject({ ok: true });
    expect([days, failures]).toEqual([[7], []]);
  });

  it("names mailboxes that went while the upload waited", async () => {
    const { accept } = harness({
      insert: async (uploads) => uploads.map((each) => each.copies.map(() => ({ state: "gone" }))),
    });
    expect(await accept(upload())).toEqual({
      ok: false,
      error: { type: "mailbox-gone", mailboxes: [bob.mailboxes[0]] },
    });
  });
});
