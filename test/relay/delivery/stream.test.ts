import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MailboxStream, type StreamEnd, stallMs } from "../../../src/relay/delivery/stream.ts";
import { DeliveryWindow, itemBytes } from "../../../src/relay/delivery/window.ts";
import type { Acknowledgement } from "../../../src/relay/store/acknowledgements.ts";
import type { ReadRequest, WaitingItem } from "../../../src/relay/store/deliveries.ts";
import { windowBytes, windowItems } from "../../../src/shared/limits.ts";
import { parseDelivery } from "../../../src/shared/wire/frames.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const noBytes = new Uint8Array(0);

/** A mailbox in memory, and a stream over it. Reads answer when the test says so. */
function harness(
  queued: readonly number[],
  options: { readonly sentThrough?: number; readonly holdReads?: boolean } = {},
) {
  const clock = createManualClock();
  const stored: WaitingItem[] = [];
  const sent: { seq: number; redelivered: boolean }[] = [];
  const ends: StreamEnd[] = [];
  const drained: number[] = [];
  const requests: ReadRequest[] = [];
  const held: (() => void)[] = [];
  let acknowledging: (acknowledgement: Acknowledgement) => Promise<boolean> = async ({ items }) => {
    for (const { seq } of items) {
      stored.splice(
        stored.findIndex((item) => item.seq === seq),
        1,
      );
    }
    return true;
  };
  const commit = (bucket: number, seq = (stored.at(-1)?.seq ?? last) + 1): number => {
    last = seq;
    stored.push({ seq, day: 1, bucket, header: noBytes, body: noBytes });
    return seq;
  };
  let last = 0;
  for (const bucket of queued) commit(bucket);
  const read = (request: ReadRequest): readonly WaitingItem[] => {
    let bytes = 0;
    return stored
      .filter((item) => item.seq > request.afterSeq)
      .slice(0, request.maxItems)
      .filter((item) => (bytes += itemBytes(item.bucket)) <= request.maxBytes);
  };
  const session = {
    session: 1,
    through: queued.length,
    sentThrough: options.sentThrough ?? 0,
    queuedItems: queued.length,
    refusedCount: 0,
    refusedSinceMs: null,
  };
  const stream = new MailboxStream("mailbox", session, {
    read: async (request) => {
      requests.push(request);
      const items = read(request);
      if (options.holdReads === true) await new Promise<void>((resolve) => held.push(resolve));
      return items;
    },
    acknowledge: (acknowledgement) => acknowledging(acknowledgement),
    send: (frame) => {
      const delivery = parseDelivery(frame);
      if (!delivery.ok) throw new Error("no delivery");
      sent.push({ seq: Number(delivery.value.seq), redelivered: delivery.value.redelivered });
    },
    onDrained: (through) => void drained.push(through),
    onEnd: (end) => void ends.push(end),
    clock,
  });
  const settle = (): Promise<void> => clock.advance(0);
  const seqs = (): number[] => sent.map((each) => each.seq);
  const setAcknowledge = (next: typeof acknowledging): void => {
    acknowledging = next;
  };
  return {
    stream,
    clock,
    stored,
    sent,
    seqs,
    ends,
    drained,
    requests,
    held,
    commit,
    settle,
    setAcknowledge,
  };
}

describe("a stream", () => {
  it("backfills in order, then says drained once all of it is acknowledged", async () => {
    const { stream, seqs, drained, settle } = harness([0, 0, 0]);
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
    const { stream, drained, settle } = harness([]);
    stream.start();
    await settle();
    expect(drained).toEqual([0]);
  });

  it("finds what commits during backfill and cutover exactly once, woken or not", async () => {
    const { stream, seqs, commit, held, settle } = harness([0, 0], { holdReads: true });
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
    const { stream, settle, stored, setAcknowledge } = harness([0, 0]);
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
    const { stream, sent, settle } = harness([0, 0, 0], { sentThrough: 2 });
    stream.start();
    await settle();
    expect(sent.map((each) => each.redelivered)).toEqual([true, true, false]);
  });

  it("R36: stops reading when the window is full, and cuts after 30 s without progress", async () => {
    const { stream, clock, seqs, ends, settle, requests } = harness(Array<number>(400).fill(0));
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
    const { stream, seqs, settle, ends } = harness([4, 4, 4, 4, 0, 0]);
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
      const { stream, ends, settle, setAcknowledge, drained } = harness([0]);
      setAcknowledge(answer);
      stream.start();
      await settle();
      stream.acknowledge([1]);
      await settle();
      expect([ends, drained]).toEqual([[end], []]);
    }
  });

  it("closed, it sends and acknowledges nothing more", async () => {
    const { stream, seqs, held, settle, setAcknowledge } = harness([0, 0], { holdReads: true });
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
    const { stream, stored, seqs, requests, commit, settle } = harness([0]);
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
    const { stream, stored, seqs, held, commit, settle, requests } = harness([0, 0], {
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
          const h = harness(queued, { holdReads: true });
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

describe("the window", () => {
  it("R57: holds numbers and sizes, and is open while any next item fits", () => {
    const window = new DeliveryWindow();
    for (let seq = 1; window.isOpen; seq++) window.add({ seq, day: 1, bytes: itemBytes(4) });
    expect([window.items, window.bytes <= windowBytes]).toEqual([3, true]);
    window.finish(window.beginAcknowledging([1, 2, 3]));
    expect([window.items, window.bytes]).toEqual([0, 0]);
  });
});
