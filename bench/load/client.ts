/**
 * What a load client is: one system under load, spoken to over raw sockets with bytes made ready
 * beforehand, because a load generator that works hard measures itself: it shares the processors.
 *
 * Same shape for every system: publisher connections whose messages are confirmed, one connection per
 * recipient device, each receipt acknowledged in batches. Messages are numbers here; `messageBytes`
 * bytes travel for each, the number in front.
 */

/** What a client tells. */
export interface LoadEvents {
  /** The system promised to keep that message. Publishers confirm in the order of publishing. */
  readonly onAccepted: (publisher: number) => void;
  /** One copy of a message arrived. */
  readonly onReceived: (message: number) => void;
}

/** A connected client. */
export interface LoadClient {
  /** Hands messages to one publisher's connection, in one write. */
  readonly publish: (publisher: number, messages: readonly number[]) => void;
  /** Acknowledges what was received and not yet acknowledged, and ends the connections. */
  readonly close: () => Promise<void>;
}

/** The shape of a load. */
export interface LoadShape {
  /** Recipients; each has `copies` devices, and a message goes to all of them. */
  readonly recipients: number;
  readonly copies: number;
  /** False: nobody connects to receive, and what counts is what was accepted. */
  readonly isReceived: boolean;
  readonly publishers: number;
  /** Messages in all; prepared before the clock starts. */
  readonly messages: number;
}

/** Bytes of one item of the smallest bucket, as a device receives it; what peers carry a copy. */
export const messageBytes = 2_250;
/** Receipts that are acknowledged together, unless `ackMs` pass first. */
export const ackBatch = 32;
/** Units: ms. */
export const ackMs = 5;

/** The recipient of a message: all are written to in turn. */
export function recipientOf(message: number, shape: LoadShape): number {
  return message % shape.recipients;
}
