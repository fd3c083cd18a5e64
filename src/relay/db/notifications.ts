/**
 * Hearing from other processes on the same database: LISTEN on a connection of its own, opened again
 * whenever it is lost, and NOTIFY over that same connection.
 *
 * Notifications carry no payload (R42): they say "look", and what there is to see stands in tables.
 * One may be lost with its connection, so whoever relies on them looks again after `onConnected`.
 * What a notification means is delivery/neighbours.ts.
 */
import type postgres from "postgres";

import type { Clock } from "../../shared/clock.ts";

/** What happens on the connection. */
export interface NotificationEvents {
  readonly onNotification: (channel: string) => void;
  /** Listening, for the first time or again: something may have been missed. */
  readonly onConnected: () => void;
  /** The connection is gone and is being opened again. */
  readonly onLost: () => void;
}

/** The driver's own callbacks for one connection. */
export interface ConnectionEvents {
  readonly onnotify: (channel: string) => void;
  readonly onclose: () => void;
}

/** What listening needs. */
export interface NotificationOptions {
  /** A pool of exactly one connection that is never closed for its age. */
  readonly connect: (events: ConnectionEvents) => postgres.Sql;
  /** Plain lower-case names. */
  readonly channels: readonly string[];
  readonly events: NotificationEvents;
  readonly clock: Clock;
}

/** An open ear, and a voice. */
export interface Notifications {
  /** Tells every listening process, this one included. False: it is not known to have been told. */
  readonly notify: (channel: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Delays between attempts: doubling from the first to the last. Units: ms. */
const firstRetryMs = 50;
const lastRetryMs = 5_000;
/** A connection that does not answer within this is given up. Units: ms. */
const answerMs = 10_000;

/** Starts listening. */
export function openNotifications(options: NotificationOptions): Notifications {
  const ear = new Ear(options);
  void ear.open();
  return { notify: (channel) => ear.notify(channel), close: () => ear.close() };
}

/** One connection at a time, and what replaces it. */
class Ear {
  readonly #options: NotificationOptions;
  #connected: postgres.Sql | undefined;
  #opening: postgres.Sql | undefined;
  #cancelRetry: (() => void) | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { connect, channels, events, clock } = this.#options;
    const sql = connect({
      onnotify: (channel) => {
        if (sql === this.#connected) events.onNotification(channel);
      },
      onclose: () => void this.#lose(sql),
    });
    this.#opening = sql;
    const cancel = clock.schedule(answerMs, () => void drop(sql));
    try {
      for (const channel of channels) await sql.unsafe(`listen ${channel}`);
    } catch {
      // Whatever it was, the next attempt finds out.
      await drop(sql);
      this.#retry();
      return;
    } finally {
      cancel();
    }
    this.#opening = undefined;
    if (this.#closed) return;
    this.#connected = sql;
    this.#failures = 0;
    events.onConnected();
  }

  async notify(channel: string): Promise<boolean> {
    const sql = this.#connected;
    if (sql === undefined) return false;
    const cancel = this.#options.clock.schedule(answerMs, () => void this.#lose(sql));
    try {
      await sql`select pg_notify(${channel}, '')`;
      return true;
    } catch {
      // The connection is gone or useless; whoever hears again looks by itself.
      void this.#lose(sql);
      return false;
    } finally {
      cancel();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRetry?.();
    const open = [this.#connected, this.#opening];
    this.#connected = undefined;
    for (const sql of open) if (sql !== undefined) await drop(sql);
  }

  async #lose(sql: postgres.Sql): Promise<void> {
    if (sql !== this.#connected) return;
    this.#connected = undefined;
    this.#options.events.onLost();
    await drop(sql);
    this.#retry();
  }

  #retry(): void {
    if (this.#closed) return;
    const delayMs = Math.min(lastRetryMs, firstRetryMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#cancelRetry = this.#options.clock.schedule(delayMs, () => void this.open());
  }
}

/** Ends a connection without waiting for what it does. */
async function drop(sql: postgres.Sql): Promise<void> {
  await sql.end({ timeout: 0 });
}
