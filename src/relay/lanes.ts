/**
 * The lanes of this relay: one writer, one acknowledger and one reader each, bound to the database.
 *
 * Lanes are few and fixed (docs/operating.md "Shape of the tables"); all are built at start.
 */
import { type Clock, dayOf } from "../shared/clock.ts";
import { type Accept, createAccept } from "./delivery/accept.ts";
import { createAcknowledge } from "./delivery/acknowledge.ts";
import { createBatcher } from "./delivery/batcher.ts";
import type { LanePorts } from "./delivery/open-stream.ts";
import type { Fresh, News } from "./delivery/wakeup.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { withinBound } from "./readiness.ts";
import { acknowledgeItems, releaseBodies } from "./store/acknowledgements.ts";
import { type ReadRequest, readItems } from "./store/deliveries.ts";
import { insertItems } from "./store/items.ts";
import { laneOf } from "./store/lane.ts";
import type { Sql } from "./store/sql-values.ts";

/** One lane. */
export interface Lane extends LanePorts {
  readonly accept: Accept;
}

/** All lanes. */
export interface Lanes {
  readonly count: number;
  readonly numberOf: (account: string) => number;
  readonly byNumber: (lane: number) => Lane;
}

/** What lanes are built on. */
export interface LanesOptions {
  readonly sql: Sql;
  /** For accepting and acknowledging: the same statement for every batch. */
  readonly planOnce: Sql;
  readonly count: number;
  readonly ensureDay: (day: number) => Promise<void>;
  /** Told what each batch committed. */
  readonly wake: (news: News, fresh: Fresh) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface LaneRead {
  readonly request: ReadRequest;
  readonly fromDay: number;
}

/** Streams read by one statement: each may bring a window of 1 MiB into memory. */
const maxReads = 16;
/** Streams that may wait for a read: one per open connection. */
const maxWaitingReads = 100_000;

/** Builds them. */
export function createLanes(options: LanesOptions): Lanes {
  const lanes = Array.from({ length: options.count }, (_, lane) => createLane(lane, options));
  return {
    count: options.count,
    numberOf: (account) => laneOf(account, options.count),
    byNumber: (number) => {
      const lane = lanes[number];
      if (lane === undefined) throw new Error(`lane ${number} of ${options.count}`);
      return lane;
    },
  };
}

function createLane(lane: number, options: LanesOptions): Lane {
  const { sql, planOnce, ensureDay, wake, clock, log, metrics } = options;
  const read = createBatcher<LaneRead, Awaited<ReturnType<LanePorts["read"]>>>({
    run: (reads) => {
      const days = { from: reads[0]?.fromDay ?? 0, to: dayOf(clock.nowMs()) + 2 };
      const requests = reads.map(({ request }) => request);
      // A batch that never came back would hold up every stream of the lane for good.
      return withinBound(readItems(sql, lane, requests, days), clock);
    },
    maxBatch: maxReads,
    maxWaiting: maxWaitingReads,
    // A backfill looks at every day; it must not make others do so.
    together: (first, next) => first.fromDay === next.fromDay,
  });
  return {
    accept: createAccept({
      insert: async (uploads) => {
        const done = metrics.committing(uploads.reduce((sum, each) => sum + each.copies.length, 0));
        try {
          return await insertItems(planOnce, lane, { uploads, nowMs: clock.nowMs() });
        } finally {
          done();
        }
      },
      ensureDay,
      wake,
      clock,
      onFailure: (code, uploads) => log.error({ code, uploads }, "accept failed"),
      onQueued: metrics.queued,
    }),
    acknowledge: createAcknowledge({
      acknowledge: async (acknowledgements) => {
        const nowMs = clock.nowMs();
        const asked = acknowledgeItems(planOnce, lane, { acknowledgements, nowMs });
        const done = await withinBound(asked, clock);
        for (const [index, { items }] of acknowledgements.entries()) {
          if (done.current[index] === true) metrics.acknowledged(items.length);
        }
        return done;
      },
      release: (bodies) => withinBound(releaseBodies(sql, lane, bodies), clock),
      onFailure: (code, bodies) => log.warn({ code, bodies }, "shared bodies were not released"),
    }),
    read: (request, fromDay) => read({ request, fromDay }),
  };
}
