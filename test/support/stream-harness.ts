/**
 * A mailbox in memory and a stream over it: what it reads, sends and acknowledges is there to look at.
 */
import { MailboxStream, type StreamEnd } from "../../src/relay/delivery/stream.ts";
import { itemBytes } from "../../src/relay/delivery/window.ts";
import type { Acknowledgement } from "../../src/relay/store/acknowledgements.ts";
import type { ReadRequest, WaitingItem } from "../../src/relay/store/deliveries.ts";
import { parseDelivery } from "../../src/shared/wire/frames.ts";
import { createManualClock } from "./manual-clock.ts";

const noBytes = new Uint8Array(0);

/** A stream, and what it did. */
export interface StreamHarness {
  readonly stream: MailboxStream;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly stored: WaitingItem[];
  readonly sent: readonly { readonly seq: number; readonly redelivered: boolean }[];
  readonly seqs: () => number[];
  readonly ends: readonly StreamEnd[];
  readonly drained: readonly number[];
  readonly requests: readonly ReadRequest[];
  /** Lets held reads go, in their order. */
  readonly held: (() => void)[];
  /** Stores one more item; returns its number, the next one unless given. */
  readonly commit: (bucket: number, seq?: number) => number;
  /** From now on the database does not answer reads. */
  readonly failReads: () => void;
  readonly settle: () => Promise<void>;
  readonly setAcknowledge: (next: (acknowledgement: Acknowledgement) => Promise<boolean>) => void;
}

/** A mailbox with so many items of those buckets. With `holdReads`, reads answer when the test says so. */
export function streamHarness(
  queued: readonly number[],
  options: { readonly sentThrough?: number; readonly holdReads?: boolean } = {},
): StreamHarness {
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
  let failing = false;
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
      if (failing) throw new Error("no database");
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
    failReads: () => {
      failing = true;
    },
    settle,
    setAcknowledge,
  };
}
