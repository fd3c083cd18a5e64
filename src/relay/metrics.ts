/**
 * What the relay counts, for Prometheus. Numbers only: no metric has a label that names an account, a
 * mailbox, an address or an envelope, and every label takes its values from a closed set.
 *
 * Parts tell what happened; what stands somewhere already (connections, tables) is asked when somebody
 * scrapes. Served by admin/listener.ts. Spec: docs/operating.md "Metrics".
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** How a hot table is doing. Dead rows that grow without end are what slows a queue down (R43). */
export interface TableHealth {
  readonly table: string;
  readonly liveRows: number;
  readonly deadRows: number;
}

/** What the database says of itself. Units: seconds. */
export interface DatabaseHealth {
  readonly tables: readonly TableHealth[];
  /** Age of the oldest transaction: what keeps dead rows from being removed. */
  readonly oldestTransactionSeconds: number;
}

/** What is asked at a scrape. */
export interface MetricSources {
  readonly connections: () => number;
  readonly storage: () => { readonly isFull: boolean; readonly freeBytes: number | undefined };
  /** Undefined when the database does not answer in time. Never rejects. */
  readonly database: () => Promise<DatabaseHealth | undefined>;
}

/** What parts of the relay tell. */
export interface Metrics {
  /** `accepted`, or the code of the refusal. */
  readonly uploaded: (result: string) => void;
  readonly copied: (state: string) => void;
  /** A batch is being committed; call the result when it is, or failed. */
  readonly committing: (rows: number) => () => void;
  /** By how much the queue before the writers grew, or shrank. */
  readonly queued: (rows: number, bytes: number) => void;
  readonly delivered: () => void;
  readonly acknowledged: (items: number) => void;
  readonly expired: (items: number) => void;
  readonly connectionEvent: (event: string) => void;
  /** Everything as text, and its content type. */
  readonly scrape: (
    sources: MetricSources,
  ) => Promise<{ readonly text: string; readonly type: string }>;
  readonly close: () => void;
}

const prefix = "pixie_relay_";
const lagQuantiles = [50, 99, 100];

/** Builds the metrics of one relay. They are its own: two relays in a process do not mix. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: prefix + name, help, labelNames, registers });
  const uploads = counter("uploads_total", "Uploads by what became of them.", ["result"]);
  const copies = counter("copies_total", "Copies of accepted uploads by state.", ["state"]);
  const deliveries = counter("deliveries_total", "Items handed to connections.");
  const acks = counter("acknowledged_items_total", "Items that devices acknowledged.");
  const expired = counter("expired_items_total", "Items nobody acknowledged in time.");
  const events = counter("connection_events_total", "Ends of connections by kind.", ["event"]);
  const rows = new Histogram({
    name: `${prefix}batch_rows`,
    help: "Rows of a committed batch.",
    buckets: [1, 4, 16, 64, 128, 256],
    registers,
  });
  const seconds = new Histogram({
    name: `${prefix}commit_seconds`,
    help: "Time from a batch's statement to its durable commit, failures included.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10],
    registers,
  });
  const queueRows = gauge(registry, "queue_rows", "Rows that wait for a batch.");
  const queueBytes = gauge(registry, "queue_bytes", "Bytes that wait for a batch.");
  const asked = createAsked(registry);
  return {
    uploaded: counting((result) => uploads.labels({ result })),
    copied: counting((state) => copies.labels({ state })),
    committing: (count) => {
      rows.observe(count);
      return seconds.startTimer();
    },
    queued: (rowCount, bytes) => {
      queueRows.inc(rowCount);
      queueBytes.inc(bytes);
    },
    delivered: () => deliveries.inc(),
    acknowledged: (items) => acks.inc(items),
    expired: (items) => expired.inc(items),
    connectionEvent: (event) => events.inc({ event }),
    scrape: async (sources) => {
      await asked.update(sources);
      return { text: await registry.metrics(), type: registry.contentType };
    },
    close: asked.close,
  };
}

/** Counts by one label, whose values are few: finding a labelled counter costs more than counting. */
function counting(counterOf: (label: string) => { inc: () => void }): (label: string) => void {
  const counterByLabel = new Map<string, { inc: () => void }>();
  return (label) => {
    const counter = counterByLabel.get(label) ?? counterOf(label);
    counterByLabel.set(label, counter);
    counter.inc();
  };
}

function gauge<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Gauge<L> {
  return new Gauge({ name: prefix + name, help, labelNames, registers: [registry] });
}

/** The gauges that are set at a scrape. */
function createAsked(registry: Registry): {
  readonly update: (sources: MetricSources) => Promise<void>;
  readonly close: () => void;
} {
  const connections = gauge(registry, "connections", "Open mailbox connections.");
  const up = gauge(registry, "database_up", "1 while the database answers.");
  const live = gauge(registry, "table_live_rows", "Estimate of live rows.", ["table"]);
  const dead = gauge(registry, "table_dead_rows", "Estimate of dead rows.", ["table"]);
  const oldest = gauge(registry, "oldest_transaction_seconds", "Age of the oldest transaction.");
  const full = gauge(registry, "storage_full", "1 while nothing new is accepted for want of room.");
  const free = gauge(registry, "storage_free_bytes", "Free bytes, where the disk is looked at.");
  const lag = gauge(registry, "event_loop_lag_seconds", "Since the last scrape.", ["quantile"]);
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  return {
    update: async ({ connections: count, storage, database }) => {
      connections.set(count());
      const { isFull, freeBytes } = storage();
      full.set(isFull ? 1 : 0);
      if (freeBytes !== undefined) free.set(freeBytes);
      setLag(lag, loop);
      const health = await database();
      up.set(health === undefined ? 0 : 1);
      if (health === undefined) return;
      oldest.set(health.oldestTransactionSeconds);
      for (const { table, liveRows, deadRows } of health.tables) {
        live.set({ table }, liveRows);
        dead.set({ table }, deadRows);
      }
    },
    close: () => void loop.disable(),
  };
}

function setLag(lag: Gauge<"quantile">, loop: IntervalHistogram): void {
  for (const percent of lagQuantiles) {
    lag.set({ quantile: String(percent / 100) }, loop.percentile(percent) / 1e9);
  }
  loop.reset();
}
