/**
 * The in-flight window of one connection: which items were sent and not yet acknowledged, by number
 * and size. It holds no bodies (R57), and decides without doing anything.
 *
 * Bound: `windowItems` items and `windowBytes` bytes. What does not fit stays in the database.
 */
import { bodyBytes } from "../../shared/wire/envelope.ts";
import { bucketBytes, headerBytes, windowBytes, windowItems } from "../../shared/limits.ts";

/** An item in flight. */
export interface InFlight {
  readonly seq: number;
  readonly day: number;
  readonly bytes: number;
}

/** Room that is left. */
export interface Room {
  readonly items: number;
  readonly bytes: number;
}

/** Bytes of an item of that bucket. */
export function itemBytes(bucket: number): number {
  return headerBytes + bodyBytes(bucket);
}

/** Bytes of the largest item. */
export const maxItemBytes = itemBytes(bucketBytes.length - 1);

/** Tracks one connection's deliveries. */
export class DeliveryWindow {
  readonly #bySeq = new Map<number, InFlight>();
  readonly #acknowledging = new Set<number>();
  #bytes = 0;

  /** Items sent and not yet acknowledged for good. */
  get items(): number {
    return this.#bySeq.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What may still be sent. */
  get room(): Room {
    return { items: windowItems - this.#bySeq.size, bytes: windowBytes - this.#bytes };
  }

  /** Whether any next item would fit. Reading less would leave open whether there is more. */
  get isOpen(): boolean {
    return this.room.items > 0 && this.room.bytes >= maxItemBytes;
  }

  /** Notes a delivery. */
  add(item: InFlight): void {
    this.#bySeq.set(item.seq, item);
    this.#bytes += item.bytes;
  }

  /** Those of `seqs` that were delivered here and are not being acknowledged already (R4). */
  beginAcknowledging(seqs: readonly number[]): InFlight[] {
    const begun: InFlight[] = [];
    for (const seq of seqs) {
      const item = this.#bySeq.get(seq);
      if (item === undefined || this.#acknowledging.has(seq)) continue;
      this.#acknowledging.add(seq);
      begun.push(item);
    }
    return begun;
  }

  /** Frees what was acknowledged. */
  finish(items: readonly InFlight[]): void {
    for (const item of items) {
      if (!this.#bySeq.delete(item.seq)) continue;
      this.#acknowledging.delete(item.seq);
      this.#bytes -= item.bytes;
    }
  }

  /** Whether anything up to that number is still in flight. */
  holdsUpTo(seq: number): boolean {
    for (const held of this.#bySeq.keys()) if (held <= seq) return true;
    return false;
  }
}
