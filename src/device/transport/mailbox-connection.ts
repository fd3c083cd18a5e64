/**
 * The managed mailbox connection: one session after another until it is closed, displaced or
 * rejected. It decides when to come back, tells why it is away, and keeps requests and
 * acknowledgements from outliving the connection that they belong to.
 *
 * It does not journal: the inbox acknowledges what it has committed, and whatever was not
 * acknowledged is redelivered by the relay.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import type { Clock } from "../../shared/clock.ts";
import { pingIntervalMs, windowItems } from "../../shared/limits.ts";
import { assertNever, err } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import type { Delivery } from "../../shared/wire/frames.ts";
import { timeFromText } from "../../shared/wire/fields.ts";
import { backOffMs, reconnectBounds } from "./back-off.ts";
import { createAckWindow } from "./mailbox-acks.ts";
import { createMailboxRequests, type MailboxRequests } from "./mailbox-requests.ts";
import type { ReadyFrame } from "./mailbox-frames.ts";
import { type MailboxSession, openMailboxSession, type SessionEnd } from "./mailbox-session.ts";
import type {
  Answered,
  MailboxConnection,
  MailboxEvents,
  MailboxIdentity,
  MailboxRequest,
  MailboxState,
} from "./port.ts";

type OfflineState = Extract<MailboxState, { readonly type: "offline" }>;

/** What a connection is built from. `answersHttp` asks the same relay over HTTP, for diagnosis only. */
export interface MailboxConnectionParts {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly identity: MailboxIdentity;
  readonly events: MailboxEvents;
  readonly answersHttp: () => Promise<boolean>;
  readonly onClosed: () => void;
}

/** A relay keeps 256 items in flight; four windows of unacknowledged items is no relay of ours. */
const maxOpenItems = 4 * windowItems;
/** A session that lived this long counts as success: the next failure starts the back-off anew. */
const stableMs = pingIntervalMs;

/** Opens the connection at once and keeps it open. */
export function openMailboxConnection(parts: MailboxConnectionParts): MailboxConnection {
  const mailbox = new ManagedMailbox(parts);
  mailbox.connect();
  return mailbox;
}

class ManagedMailbox implements MailboxConnection {
  readonly #parts: MailboxConnectionParts;
  readonly #acks = createAckWindow();
  readonly #requests: MailboxRequests;
  #state: MailboxState = { type: "connecting" };
  #session: MailboxSession | undefined;
  #cancelRetry: (() => void) | undefined;
  #readyMs: number | undefined;
  #failures = 0;
  #closing: Promise<void> | undefined;

  constructor(parts: MailboxConnectionParts) {
    this.#parts = parts;
    this.#requests = createMailboxRequests(parts.clock);
  }

  state(): MailboxState {
    return this.#state;
  }

  acknowledge(seqs: readonly bigint[]): void {
    // Frames for a connection that is gone are dropped: the relay redelivers, the inbox acks again.
    for (const frame of this.#acks.acknowledge(seqs)) {
      if (this.#state.type === "ready") this.#session?.send(frame);
    }
  }

  async request(request: MailboxRequest): Answered<Readonly<Record<string, unknown>>> {
    const session = this.#session;
    if (session === undefined || this.#state.type !== "ready" || this.#closing !== undefined) {
      return err({ type: "unreachable", reason: awayReason(this.#state) });
    }
    return await this.#requests.ask(request, session.send);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  connect(): void {
    const { clock, identity, events } = this.#parts;
    this.#readyMs = undefined;
    this.#session = openMailboxSession(clock, identity, {
      onReady: (ready) => {
        this.#readyMs = clock.nowMs();
        this.#acks.begin(ready.epoch);
        this.#enter(readyState(ready, clock));
      },
      onDelivery: (delivery) => this.#deliver(delivery),
      onDrained: events.onDrained,
      onReply: this.#requests.settle,
      onEnd: (end) => {
        this.#session = undefined;
        this.#requests.failAll("the connection to the relay ended before it replied");
        this.#afterEnd(end);
      },
    });
  }

  #deliver(delivery: Delivery): void {
    this.#acks.delivered(delivery.seq);
    if (this.#acks.open() > maxOpenItems) {
      this.#session?.abandon(
        `the relay sent over ${maxOpenItems} items without an acknowledgement`,
      );
    } else {
      this.#parts.events.onDelivery(delivery);
    }
  }

  #enter(next: MailboxState): void {
    this.#state = next;
    this.#parts.events.onState(next);
  }

  #afterEnd(end: SessionEnd): void {
    if (end.type === "displaced") return this.#enter({ type: "displaced" });
    if (end.type === "refused" && end.code === "unauthorised") {
      return this.#enter({ type: "rejected", reason: end.message });
    }
    const { clock, rng } = this.#parts;
    if (this.#readyMs !== undefined && clock.nowMs() - this.#readyMs >= stableMs) {
      this.#failures = 0;
    }
    this.#failures += 1;
    const retryMs = backOffMs(this.#failures, reconnectBounds, rng);
    this.#cancelRetry = clock.schedule(retryMs, () => {
      this.#enter({ type: "connecting" });
      this.connect();
    });
    const offline: OfflineState = { type: "offline", reason: endReason(end), retryMs };
    this.#enter(offline);
    if (neverUpgraded(end)) void this.#diagnose(offline);
  }

  // A proxy that passes HTTP and not WebSockets looks like a dead relay from here: ask and say so.
  async #diagnose(offline: OfflineState): Promise<void> {
    const answers = await this.#parts.answersHttp();
    if (!answers || this.#state !== offline || this.#closing !== undefined) return;
    const reason =
      `the relay answers HTTP but the WebSocket upgrade fails (${offline.reason}); ` +
      "check that the proxy in front of it passes the Upgrade and Connection headers on /v1/device";
    this.#enter({ ...offline, reason });
  }

  async #shutDown(): Promise<void> {
    this.#cancelRetry?.();
    const session = this.#session;
    this.#session = undefined;
    this.#requests.failAll("this device is closing");
    this.#state = { type: "offline", reason: "closed on this device", retryMs: 0 };
    await session?.close();
    this.#parts.onClosed();
  }
}

function readyState(ready: ReadyFrame, clock: Clock): MailboxState {
  const since = ready.refused.since;
  return {
    type: "ready",
    epoch: ready.epoch,
    queued: ready.queued,
    refused: {
      count: ready.refused.count,
      sinceMs: since === null ? undefined : timeFromText(since),
    },
    relayTimeMs: timeFromText(ready.time) ?? clock.nowMs(),
  };
}

function neverUpgraded(end: SessionEnd): boolean {
  return end.type === "upgrade-refused" || (end.type === "lost" && !end.upgraded);
}

function endReason(end: SessionEnd): string {
  switch (end.type) {
    case "lost":
      return end.reason;
    case "upgrade-refused":
      return `status ${end.status} instead of an upgrade`;
    case "refused":
      return `the relay refused the connection: ${end.message}`;
    case "displaced":
      return "another connection of this device took over";
    default:
      return assertNever(end);
  }
}

function awayReason(state: MailboxState): string {
  switch (state.type) {
    case "offline":
      return `not connected to the relay: ${state.reason}`;
    case "rejected":
      return `the relay refuses this device: ${state.reason}`;
    case "displaced":
      return "another connection of this device took over";
    case "connecting":
    case "ready":
      return "still connecting to the relay";
    default:
      return assertNever(state);
  }
}
