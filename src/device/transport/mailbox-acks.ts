/**
 * Which sequence numbers may be acknowledged on the connection that is open now. A relay that was
 * restored from a backup starts a new epoch and may use a number again for another item: an
 * acknowledgement of the old item must never end the new one, or it is lost.
 *
 * So every delivery that was handed out is counted, per epoch. A number that is still owed from an
 * earlier epoch answers that one first; a number that this connection has not delivered is dropped,
 * because the relay redelivers the item and the inbox acknowledges it again.
 *
 * Bound: one entry per item that the inbox has not acknowledged; the relay's window limits those.
 *
 * Spec: docs/protocol.md "The mailbox connection" (epoch, seq, acknowledgements).
 */
import { maxAckSeqs } from "../../shared/limits.ts";
import type { AckFrame } from "../../shared/wire/frames.ts";

/** Deliveries handed out and not yet acknowledged. */
export interface AckWindow {
  /** A new connection became ready; nothing is delivered on it yet. */
  readonly begin: (epoch: string) => void;
  /** A delivery is handed to the inbox. */
  readonly delivered: (seq: bigint) => void;
  /** Frames that acknowledge whatever of `seqs` this connection delivered; at most 256 seqs each. */
  readonly acknowledge: (seqs: readonly bigint[]) => readonly AckFrame[];
  /** Delivered on this connection and not acknowledged. */
  readonly open: () => number;
}

/** Builds an empty window. */
export function createAckWindow(): AckWindow {
  let epoch: string | undefined;
  const owed = new Map<bigint, number>();
  const owedEarlier = new Map<bigint, number>();
  const onThisConnection = new Set<bigint>();

  return {
    begin: (next) => {
      onThisConnection.clear();
      if (epoch !== undefined && epoch !== next) {
        for (const [seq, count] of owed) owedEarlier.set(seq, (owedEarlier.get(seq) ?? 0) + count);
        owed.clear();
      }
      epoch = next;
    },
    delivered: (seq) => {
      onThisConnection.add(seq);
      owed.set(seq, (owed.get(seq) ?? 0) + 1);
    },
    acknowledge: (seqs) => {
      const acked = seqs.filter((seq) => {
        if (takeOne(owedEarlier, seq)) return false;
        return takeOne(owed, seq) && onThisConnection.delete(seq);
      });
      return epoch === undefined ? [] : ackFrames(epoch, acked);
    },
    open: () => onThisConnection.size,
  };
}

function takeOne(counts: Map<bigint, number>, seq: bigint): boolean {
  const count = counts.get(seq);
  if (count === undefined) return false;
  if (count === 1) counts.delete(seq);
  else counts.set(seq, count - 1);
  return true;
}

function ackFrames(epoch: string, seqs: readonly bigint[]): readonly AckFrame[] {
  const frames: AckFrame[] = [];
  for (let from = 0; from < seqs.length; from += maxAckSeqs) {
    frames.push({ type: "ack", epoch, seqs: seqs.slice(from, from + maxAckSeqs).map(String) });
  }
  return frames;
}
