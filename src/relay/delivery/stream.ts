/**
 * Deliver: one connection's way through its mailbox.
 *
 *   backfill → cutover → live → closed
 *
 * backfill reads whatever waited when the connection took the mailbox; cutover looks once more, since
 * wake-ups were subscribed before the mailbox was claimed and anything committed in between must be
 * found exactly once; live reads when woken. Every phase reads from the database, forwards only, by
 * sequence number and never by time (R7), and only as much as the window has room for.
 *
 * One shortcut: a live stream that has seen everything takes what was just committed from the hand of
 * the writer, if it begins at the very next number. Anything else — a gap, a full window, a read under
 * way — is left to the next read, so nothing is ever held in memory for a device. The read that this
 * saves cost a third of the database's work for an envelope.
 *
 * A mailbox row is locked before its numbers are drawn, so nothing appears below a number already
 * read (R9). Spec: docs/protocol.md "The mailbox connection".
 */
import { type Clock, dayOf } from "../../shared/clock.ts";
import { encodeItemDelivery } from "../../shared/wire/envelope.ts";
import type { Acknowledgement } from "../store/acknowledgements.ts";
import type { ReadRequest, WaitingItem } from "../store/deliveries.ts";
import type { Session } from "../store/mailboxes.ts";
import { anyPosition } from "./wakeup.ts";
import { DeliveryWindow, type InFlight, itemBytes, maxItemBytes, type Room } from "./window.ts";

/** Why a stream gives its connection up. */
export type StreamEnd = "stalled" | "displaced" | "failed";

/** What a stream acts through. */
export interface StreamPorts {
  /** Reads items of slot days from `fromDay` on. */
  readonly read: (request: ReadRequest, fromDay: number) => Promise<readonly WaitingItem[]>;
  readonly acknowledge: (acknowledgement: Acknowledgement) => Promise<boolean>;
  /** Hands a frame to the connection. */
  readonly send: (frame: Uint8Array) => void;
  readonly onDrained: (through: number) => void;
  readonly onEnd: (end: StreamEnd) => void;
  readonly clock: Clock;
}

type Phase = "backfill" | "cutover" | "live" | "closed";

/** A full window without any acknowledgement for this long ends the connection. Units: ms. */
export const stallMs = 30_000;
/** Accept takes slot days of today ± 1; one more day for a read that starts after midnight. */
const newsDays = 2;

/** The stream of one connection. */
export class MailboxStream {
  readonly #mailbox: string;
  readonly #session: Session;
  readonly #ports: StreamPorts;
  readonly #window = new DeliveryWindow();
  #phase: Phase;
  #fromDay: number;
  #sentThrough = 0;
  /** Everything up to this number was seen: sent, or found to need no sending. */
  #seenThrough: number;
  /** Something up to this number may wait. */
  #newsThrough = anyPosition;
  #wakes = 0;
  #reading = false;
  #drained = false;
  #cancelStall: (() => void) | undefined;

  constructor(mailbox: string, session: Session, ports: StreamPorts) {
    this.#mailbox = mailbox;
    this.#session = session;
    this.#ports = ports;
    this.#phase = session.queuedItems > 0 ? "backfill" : "cutover";
    this.#fromDay = session.queuedItems > 0 ? 0 : this.#today() - newsDays;
    this.#seenThrough = session.through;
  }

  /** Starts with the backfill. */
  start(): void {
    void this.#pull();
  }

  /** There may be something up to that number; `fresh` is what was committed just now, in order. */
  wake(through: number, fresh: readonly WaitingItem[] = []): void {
    this.#wakes += 1;
    const canTake = this.#phase === "live" && !this.#reading;
    this.#newsThrough = Math.max(this.#newsThrough, through);
    if (canTake) this.#take(fresh);
    void this.#pull();
  }

  /** Acknowledges items by number; anything not delivered on this stream is ignored (R4). */
  acknowledge(seqs: readonly number[]): void {
    const items = this.#window.beginAcknowledging(seqs);
    if (items.length > 0 && !this.#isClosed()) void this.#commit(items);
  }

  /** Stops; returns the highest number that was sent. */
  close(): number {
    this.#phase = "closed";
    this.#stopStall();
    return this.#sentThrough;
  }

  // A mailbox's numbers commit in order: whoever has seen 4 misses nothing by taking 5.
  #take(fresh: readonly WaitingItem[]): void {
    for (const item of fresh) {
      if (item.seq !== this.#seenThrough + 1 || !this.#window.isOpen) return;
      this.#deliver(item);
    }
  }

  async #pull(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (!this.#isClosed() && this.#newsThrough > this.#seenThrough && this.#window.isOpen) {
        await this.#readOnce();
      }
    } catch {
      // The database failed; the device connects again and is sent what it did not acknowledge.
      this.#end("failed");
    }
    this.#reading = false;
    this.#settle();
  }

  async #readOnce(): Promise<void> {
    const [wakesBefore, today, room] = [this.#wakes, this.#today(), this.#window.room];
    const newsThrough = this.#newsThrough;
    const items = await this.#ports.read(
      {
        mailbox: this.#mailbox,
        afterSeq: this.#sentThrough,
        maxItems: room.items,
        maxBytes: room.bytes,
      },
      this.#fromDay,
    );
    for (const item of items) this.#deliver(item);
    if (this.#isClosed() || !isExhausted(items, room)) return;
    this.#fromDay = today - newsDays;
    if (this.#phase === "backfill") {
      this.#phase = "cutover";
    } else if (this.#wakes === wakesBefore) {
      // Nobody woke the stream during the read: it has seen everything.
      this.#phase = "live";
      if (Number.isFinite(newsThrough))
        this.#seenThrough = Math.max(this.#seenThrough, newsThrough);
      this.#newsThrough = this.#seenThrough;
    }
  }

  #deliver({ seq, day, bucket, header, body }: WaitingItem): void {
    // The frame before may have ended the connection, and this stream with it.
    if (this.#isClosed()) return;
    this.#window.add({ seq, day, bytes: itemBytes(bucket) });
    this.#sentThrough = seq;
    this.#seenThrough = Math.max(this.#seenThrough, seq);
    // Exact while processes live; after a crash, what was sent since the last acknowledgement may
    // come again without the mark. It is a hint: devices tell copies apart by content.
    const redelivered = seq <= this.#session.sentThrough;
    this.#ports.send(encodeItemDelivery(BigInt(seq), redelivered, { bucket, header, body }));
  }

  async #commit(items: readonly InFlight[]): Promise<void> {
    let held: boolean;
    try {
      held = await this.#ports.acknowledge({
        mailbox: this.#mailbox,
        session: this.#session.session,
        sentThrough: this.#sentThrough,
        items,
      });
    } catch {
      // Unknown whether it was committed: the items stay in flight and the next connection settles it.
      this.#end("failed");
      return;
    }
    if (!held) {
      this.#end("displaced");
      return;
    }
    this.#window.finish(items);
    this.#stopStall();
    void this.#pull();
  }

  #settle(): void {
    if (this.#isClosed()) return;
    const { through } = this.#session;
    if (!this.#drained && this.#phase !== "backfill" && !this.#window.holdsUpTo(through)) {
      this.#drained = true;
      this.#ports.onDrained(through);
    }
    if (this.#window.isOpen) this.#stopStall();
    else this.#cancelStall ??= this.#ports.clock.schedule(stallMs, () => this.#end("stalled"));
  }

  #stopStall(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }

  #end(reason: StreamEnd): void {
    if (this.#isClosed()) return;
    this.close();
    this.#ports.onEnd(reason);
  }

  #isClosed(): boolean {
    return this.#phase === "closed";
  }

  #today(): number {
    return dayOf(this.#ports.clock.nowMs());
  }
}

/** Whether the read saw the end: it was limited neither by number nor by bytes. */
function isExhausted(items: readonly WaitingItem[], room: Room): boolean {
  const bytes = items.reduce((sum, item) => sum + itemBytes(item.bucket), 0);
  return items.length < room.items && room.bytes - bytes >= maxItemBytes;
}
