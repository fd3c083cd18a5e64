/**
 * Opens the stream of a connection: subscribes to wake-ups, takes the mailbox over, builds the
 * stream; and undoes it when the connection ends.
 *
 * Subscribing comes first: what commits before the mailbox is claimed is backfill, what commits after
 * it wakes the stream, and nothing falls between.
 */
import type { Clock } from "../../shared/clock.ts";
import type { MailboxHold, MailboxName, Session } from "../store/mailboxes.ts";
import { MailboxStream, type StreamEnd, type StreamPorts } from "./stream.ts";
import type { Wakeups } from "./wakeup.ts";

/** Reading and acknowledging in one lane. */
export type LanePorts = Pick<StreamPorts, "read" | "acknowledge">;

/** What opening acts through. */
export interface OpenStreamOptions {
  readonly claim: (name: MailboxName) => Promise<Session | undefined>;
  readonly markSent: (hold: MailboxHold, sentThrough: number) => Promise<void>;
  readonly lanePorts: (lane: number) => LanePorts;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}

/** The connection's side of a stream. */
export interface StreamSink {
  readonly send: (frame: Uint8Array) => void;
  readonly onDrained: (through: number) => void;
  readonly onEnd: (end: StreamEnd) => void;
}

/** A stream that holds its mailbox and has not started. */
export interface OpenedStream {
  readonly session: Session;
  readonly stream: MailboxStream;
  /** Stops, and remembers how far the device was sent. Rejects when the database fails. */
  readonly close: () => Promise<void>;
}

/** Undefined when the mailbox no longer exists. */
export type OpenStream = (name: MailboxName, sink: StreamSink) => Promise<OpenedStream | undefined>;

/** Builds the opening of streams. */
export function createOpenStream(options: OpenStreamOptions): OpenStream {
  return async (name, sink) => {
    let stream: MailboxStream | undefined;
    const unsubscribe = options.wakeups.subscribe(name.mailbox, (through, fresh) =>
      stream?.wake(through, fresh),
    );
    try {
      const session = await options.claim(name);
      if (session === undefined) {
        unsubscribe();
        return undefined;
      }
      const ports = options.lanePorts(name.lane);
      const opened = new MailboxStream(name.mailbox, session, {
        ...sink,
        ...ports,
        clock: options.clock,
      });
      stream = opened;
      return {
        session,
        stream: opened,
        close: async () => {
          unsubscribe();
          const sentThrough = opened.close();
          if (sentThrough > session.sentThrough) {
            await options.markSent({ ...name, session: session.session }, sentThrough);
          }
        },
      };
    } catch (cause) {
      unsubscribe();
      throw cause;
    }
  };
}
