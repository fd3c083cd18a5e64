import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAckWindow } from "../../../src/device/transport/mailbox-acks.ts";

const seqsOf = (frames: readonly { readonly seqs: readonly string[] }[]) =>
  frames.flatMap((frame) => frame.seqs).map(BigInt);

describe("acknowledgement window", () => {
  it("acknowledges what this connection delivered, at most 256 to a frame", () => {
    const acks = createAckWindow();
    acks.begin("e1");
    const seqs = Array.from({ length: 600 }, (_, index) => BigInt(index + 1));
    for (const seq of seqs) acks.delivered(seq);
    const frames = acks.acknowledge(seqs);
    expect(frames.map((frame) => frame.seqs.length)).toEqual([256, 256, 88]);
    expect(frames.every((frame) => frame.epoch === "e1")).toBe(true);
    expect(seqsOf(frames)).toEqual(seqs);
    expect(acks.open()).toBe(0);
  });

  it("drops an acknowledgement whose item this connection has not delivered", () => {
    const acks = createAckWindow();
    acks.begin("e1");
    acks.delivered(1n);
    acks.begin("e1");
    expect(acks.acknowledge([1n])).toEqual([]);
    acks.delivered(1n);
    expect(seqsOf(acks.acknowledge([1n]))).toEqual([1n]);
  });

  it("never lets a late acknowledgement of an earlier epoch end a new item of that number", () => {
    const acks = createAckWindow();
    acks.begin("e1");
    acks.delivered(5n);
    acks.begin("e1");
    acks.delivered(5n);
    acks.begin("e2");
    acks.delivered(5n);
    // Two acknowledgements of the old 5 are still on their way; only a third can mean the new one.
    expect(acks.acknowledge([5n])).toEqual([]);
    expect(acks.acknowledge([5n])).toEqual([]);
    expect(seqsOf(acks.acknowledge([5n]))).toEqual([5n]);
  });

  it("acknowledges nothing twice and nothing unknown, whatever is asked", () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 40n }), { maxLength: 60 }),
        fc.array(fc.bigInt({ min: 1n, max: 60n }), { maxLength: 120 }),
        (delivered, asked) => {
          const acks = createAckWindow();
          acks.begin("e");
          const unique = new Set(delivered);
          for (const seq of unique) acks.delivered(seq);
          const acked = asked.flatMap((seq) => seqsOf(acks.acknowledge([seq])));
          expect(new Set(acked).size).toBe(acked.length);
          expect(new Set(acked)).toEqual(new Set(asked.filter((seq) => unique.has(seq))));
        },
      ),
    );
  });

  it("says nothing before a connection was ready", () => {
    expect(createAckWindow().acknowledge([1n])).toEqual([]);
  });
});
