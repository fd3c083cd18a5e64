/**
 * Neighbours: other relay processes on the same database. They tell each other, without content, that
 * a mailbox or what is known of a recipient has changed; whoever hears it looks at the database. A
 * lost word costs latency, never an envelope: everybody also looks at every beat.
 *
 * A relay that has heard nobody for a while is alone and keeps quiet: a notification for each batch
 * costs 10–21 % of the throughput. Bound: one word and one look at a time for each topic; what comes
 * meanwhile becomes one more. How words travel is db/notifications.ts.
 */
import type { Clock } from "../../shared/clock.ts";
import { pingIntervalMs } from "../../shared/limits.ts";

/** What changed: something in mailboxes (items, who holds them), or what lets senders in. */
export type Topic = "mailboxes" | "recipients";

/** What neighbours act through. */
export interface NeighbourPorts {
  /** Tells every process, this one included. False: perhaps nobody was told. Never rejects. */
  readonly tell: (topic: Topic) => Promise<boolean>;
  /** Looks what became of the mailboxes that this process serves. */
  readonly look: () => Promise<void>;
  /** Forgets what is remembered of recipients. */
  readonly forget: () => void;
  readonly clock: Clock;
  readonly onFailure: (cause: unknown) => void;
}

/** This process's side of the neighbourhood. */
export interface Neighbours {
  /** Something was committed here. */
  readonly announce: (topic: Topic) => void;
  /** A word arrived, one's own included. */
  readonly heard: (topic: Topic) => void;
  /** Words can travel (again); some may have been missed. */
  readonly connected: () => void;
  readonly close: () => void;
}

/** Somebody who was silent for longer than three beats is gone. Units: ms. */
const silenceMs = 3 * pingIntervalMs + 5_000;

/** Builds it. Nothing is said before `connected`. */
export function createNeighbours(ports: NeighbourPorts): Neighbours {
  const { clock } = ports;
  // Words of this process that come back to it. Which of two words is one's own cannot be told, but
  // how many are can, and every foreign one still leads to a look.
  const own: Record<Topic, number> = { mailboxes: 0, recipients: 0 };
  let othersUntilMs = Number.NEGATIVE_INFINITY;
  let closed = false;
  let cancelBeat: (() => void) | undefined;

  const sayByTopic: Readonly<Record<Topic, () => void>> = {
    mailboxes: coalesced(() => say("mailboxes"), ports.onFailure),
    recipients: coalesced(() => say("recipients"), ports.onFailure),
  };
  const look = coalesced(ports.look, ports.onFailure);

  async function say(topic: Topic): Promise<void> {
    own[topic] += 1;
    // Unknown whether it comes back: better one look too many than a foreign word taken for it.
    if (!(await ports.tell(topic))) own[topic] = 0;
  }

  function beat(): void {
    if (closed) return;
    cancelBeat = clock.schedule(pingIntervalMs, beat);
    sayByTopic.mailboxes();
    look();
  }

  return {
    announce: (topic) => {
      if (clock.nowMs() < othersUntilMs) sayByTopic[topic]();
    },
    heard: (topic) => {
      if (own[topic] > 0) {
        own[topic] -= 1;
        return;
      }
      const wasAlone = clock.nowMs() >= othersUntilMs;
      othersUntilMs = clock.nowMs() + silenceMs;
      // The newcomer learns of us, and looks at what we committed while we thought ourselves alone.
      if (wasAlone) sayByTopic.mailboxes();
      if (topic === "recipients" || wasAlone) ports.forget();
      if (topic === "mailboxes") look();
    },
    connected: () => {
      own.mailboxes = 0;
      own.recipients = 0;
      cancelBeat?.();
      ports.forget();
      beat();
    },
    close: () => {
      closed = true;
      cancelBeat?.();
    },
  };
}

/** Runs one at a time; any number of calls meanwhile lead to one more run. */
function coalesced(run: () => Promise<void>, onFailure: (cause: unknown) => void): () => void {
  let running = false;
  let again = false;
  async function work(): Promise<void> {
    running = true;
    do {
      again = false;
      try {
        await run();
      } catch (cause) {
        onFailure(cause);
      }
    } while (again);
    running = false;
  }
  return () => {
    if (running) again = true;
    else void work();
  };
}
