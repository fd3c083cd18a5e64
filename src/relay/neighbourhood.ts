/**
 * Joins this process to the other relay processes on its database: words travel by notification, and
 * a look compares every mailbox that is held here with its row. An embedded database has no other
 * process, so nothing is said there.
 *
 * When to say and look is delivery/neighbours.ts. Spec: docs/operating.md "The database".
 */
import type { Clock } from "../shared/clock.ts";
import type { Database } from "./db/client.ts";
import { createNeighbours, type Neighbours, type Topic } from "./delivery/neighbours.ts";
import type { Wakeups } from "./delivery/wakeup.ts";
import type { Logger } from "./log.ts";
import { failureCode } from "./store/failure.ts";
import { readPositions } from "./store/mailboxes.ts";
import type { Sql } from "./store/sql-values.ts";
import type { ConnectionRegistry } from "./ws/registry.ts";

/** What a neighbourhood is built on. */
export interface NeighbourhoodOptions {
  /** Undefined: no other process can be on this database. */
  readonly listen: Database["listen"] | undefined;
  readonly sql: Sql;
  readonly laneCount: number;
  readonly registry: ConnectionRegistry;
  readonly wakeups: Wakeups;
  /** Forgets what is remembered of recipients. */
  readonly forget: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The neighbourhood as the rest of the relay sees it. */
export interface Neighbourhood {
  readonly announce: Neighbours["announce"];
  readonly close: () => Promise<void>;
}

const channelByTopic: Readonly<Record<Topic, string>> = {
  mailboxes: "pixie_relay_mailboxes",
  recipients: "pixie_relay_recipients",
};
const topics: readonly Topic[] = ["mailboxes", "recipients"];

/** Joins it. Connecting goes on in the background; until then this process hears nobody. */
export function joinNeighbourhood(options: NeighbourhoodOptions): Neighbourhood {
  const { listen, clock, log } = options;
  if (listen === undefined) return { announce: () => {}, close: () => Promise.resolve() };
  const neighbours = createNeighbours({
    tell: (topic) => notifications.notify(channelByTopic[topic]),
    look: () => look(options),
    forget: options.forget,
    clock,
    onFailure: (cause) => log.warn({ code: failureCode(cause) }, "looking around failed"),
  });
  const notifications = listen({
    channels: topics.map((topic) => channelByTopic[topic]),
    events: {
      onNotification: (channel) => {
        const topic = topics.find((each) => channelByTopic[each] === channel);
        if (topic !== undefined) neighbours.heard(topic);
      },
      onConnected: neighbours.connected,
      onLost: () => log.warn("the connection that hears other relays was lost"),
    },
    clock,
  });
  return {
    announce: neighbours.announce,
    close: async () => {
      neighbours.close();
      await notifications.close();
    },
  };
}

/** One statement a lane, for all mailboxes that are held here. */
async function look(options: NeighbourhoodOptions): Promise<void> {
  const { sql, laneCount, registry, wakeups } = options;
  for (let lane = 0; lane < laneCount; lane++) {
    const mailboxes = registry.heldIn(lane);
    if (mailboxes.length === 0) continue;
    const positions = await readPositions(sql, lane, mailboxes);
    const news = new Map<string, number>();
    for (const mailbox of mailboxes) {
      const position = positions.get(mailbox);
      const isNew = registry.observe(mailbox, position);
      if (isNew && position !== undefined) news.set(mailbox, position.through);
    }
    wakeups.wake(news);
  }
}
