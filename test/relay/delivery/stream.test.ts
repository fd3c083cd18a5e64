import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { stallMs } from "../../../src/relay/delivery/stream.ts";
import { windowItems } from "../../../src/shared/limits.ts";
import { streamHarness } from "../../support/stream-harness.ts";

describe("a stream", () => {
  it("backfills in order, then says drained once all of it is acknowledged", async () => {
    const { stream, seqs, drained, settle } = streamHarness([0, 0, 0]);
    stream.start();
    await settle();
    expect([seqs(), drained]).toEqual([[1, 2, 3], []]);
    stream.acknowledge([1, 3]);
    await settle();
    expect(drained).toEqual([]);
    stream.acknowledge([2]);
    await settle();
    expect(drained).toEqual([3]);
  });

  it("says drained at once when nothing waits", async () => {
    const { stream, drained, settle } = streamHarness([]);
    stream.start();
    await settle();
    expect(drained).toEqual([0]);
  });

  it("finds what commits during backfill and cutover exactly once, woken or not", async () => {
    const { stream, seqs, commit, held, settle } = streamHarness([0, 0], { holdReads: true });
    stream.start();
    await settle();
    stream.wake(commit(0));
    held.shift()?.();
    await settle();
    commit(0);
    held.shift()?.();
    await settle();
    stream.wake(4);
    for (let read = 0; read < 6; read++) {
      held.shift()?.();
      await settle();
    }
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it("R22: a lost or repeated acknowledgement loses nothing and frees nothing twice", async () => {
    const { stream, settle, stored, setAcknowledge } = streamHarness([0, 0]);
    const asked: number[][] = [];
    setAcknowledge(async ({ items }) => {
      asked.push(items.map((item) => item.seq));
      return true;
    });
    stream.start();
    await settle();
    stream.acknowledge([1, 1, 9]);
    stream.acknowledge([1]);
    await settle();
    stream.acknowledge([1, 2]);
    await settle();
    expect(asked).toEqual([[1], [2]]);
    expect(stored).toHaveLength(2);
  });

  it("R27: marks what an earlier connection was sent", async () => {
    const { stream, sent, settle } = streamHarness([0, 0, 0], { sentThrough: 2 });
    stream.start();
    await settle();
    expect(sent.map((each) => each.redelivered)).toEqual([true, true, false]);
  });

  it("R36: stops reading when the window is full, and cuts after 30 s without progress", async () => {
    const { stream, clock, seqs, ends, settle, requests } = streamHarness(
      Array<number>(400).fill(0),
    );
    stream.start();
    await settle();
    expect(seqs()).toHaveLength(windowItems);
    const reads = requests.length;
    stream.wake(Infinity);
    await settle();
    expect(requests).toHaveLength(reads);
    await clock.advance(stallMs - 1);
    stream.acknowledge([1]);
    await settle();
    expect(seqs()).toHaveLength(windowItems + 1);
    await clock.advance(stallMs - 1);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual(["stalled"]);
  });

  it("R49, R51: bounds the window by bytes, never sends more, and large items do not block it", async () => {
    const { stream, seqs, settle, ends } = streamHarness([4, 4, 4, 4, 0, 0]);
    stream.start();
    await settle();
    expect(seqs()).toEqual([1, 2, 3]);
    stream.acknowledge([2]);
    await settle();
    expect(seqs()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ends).toEqual([]);
  });

  it("ends as displaced when its acknowledgement comes too late, and as failed with the database", async () => {
    for (const [answer, end] of [
      [() => Promise.resolve(false), "displaced"],
      [() => Promise.reject(new Error("database")), "failed"],
    ] as const) {
      const { stream, ends, settle, setAcknowledge, drained } = streamHarness([0]);
      setAcknowledge(answer);
      stream.start();
      await settle();
      stream.acknowledge([1]);
      await settle();
      expect([ends, drained]).toEqual([[end], []]);
    }
  });

  it("closed, it sends and acknowledges nothing more", async () => {
    const { stream, seqs, held, settle, setAcknowledge } = streamHarness([0, 0], {
      holdReads: true,
    });
    setAcknowledge(() => Promise.reject(new Error("must not be asked")));
    stream.start();
    await settle();
    expect(stream.close()).toBe(0);
    held.shift()?.();
    await settle();
    stream.acknowledge([1]);
    stream.wake(5);
    await settle();
    expect(seqs()).toEqual([]);
  });

  it("live, takes what was just committed without a read, and leaves what follows a gap to one", async () => {
    const { stream, stored, seqs, requests, commit, settle } = streamHarness([0]);
    stream.start();
    await settle();
    const reads = requests.length;
    for (const bucket of [0, 1]) stream.wake(commit(bucket), stored.slice(-1));
    expect([seqs(), requests.length]).toEqual([[1, 2, 3], reads]);
    commit(0);
    stream.wake(commit(0), stored.slice(-1));
    await settle();
    expect([seqs(), requests.length]).toEqual([[1, 2, 3, 4, 5], reads + 1]);
    stream.wake(commit(0, 8), stored.slice(-1));
    await settle();
    stream.wake(commit(0), stored.slice(-1));
    expect([seqs().slice(5), requests.length]).toEqual([[8, 9], reads + 2]);
  });

  it("takes nothing from the writer during a backfill, a read, or with a full window", async () => {
    const { stream, stored, seqs, held, commit, settle, requests } = streamHarness([0, 0], {
      holdReads: true,
    });
    stream.start();
    await settle();
    stream.wake(commit(4), stored.slice(-1));
    expect(seqs()).toEqual([]);
    for (let read = 0; read < 4; read++) {
      held.shift()?.();
      await settle();
    }
    for (const bucket of [4, 4, 4]) stream.wake(commit(bucket), stored.slice(-1));
    const reads = requests.length;
    await settle();
    expect([seqs(), requests.length]).toEqual([[1, 2, 3, 4, 5], reads]);
    stream.acknowledge([3]);
    await settle();
    held.shift()?.();
    await settle();
    expect(seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("delivers every item exactly once and in order, whatever happens in whatever order", async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("commit" as const),
        bucket: fc.integer({ min: 0, max: 4 }),
        gap: fc.integer({ min: 1, max: 3 }),
        told: fc.constantFrom("position", "item", "nothing"),
      }),
      fc.record({ kind: fc.constant("wake" as const) }),
      fc.record({ kind: fc.constant("ack" as const), share: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant("read" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 }),
        fc.array(step, { maxLength: 60 }),
        async (queued, steps) => {
          const h = streamHarness(queued, { holdReads: true });
          const all = h.stored.map((item) => item.seq);
          let acknowledged = 0;
          const inFlight = (): number[] => h.seqs().slice(acknowledged);
          const ack = (count: number): void => {
            const seqs = inFlight().slice(0, count);
            acknowledged += seqs.length;
            h.stream.acknowledge(seqs);
          };
          h.stream.start();
          for (const each of steps) {
            if (each.kind === "commit") {
              const seq = h.commit(each.bucket, (all.at(-1) ?? 0) + each.gap);
              all.push(seq);
              if (each.told !== "nothing") {
                h.stream.wake(seq, each.told === "item" ? h.stored.slice(-1) : []);
              }
            } else if (each.kind === "wake") h.stream.wake(Infinity);
            else if (each.kind === "ack") ack(each.share);
            else h.held.shift()?.();
            await h.settle();
            expect(inFlight().length).toBeLessThanOrEqual(windowItems);
          }
          // Whoever committed in another process says so at last.
          h.stream.wake(Infinity);
          for (let round = 0; round < all.length + 10; round++) {
            h.held.shift()?.();
            await h.settle();
            ack(windowItems);
            await h.settle();
          }
          expect(h.seqs()).toEqual(all);
          expect([h.ends, h.drained, h.stored.length]).toEqual([[], [queued.length], 0]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
