/** What `pixie relay …` ends with. A second signal ends with 128 + its number (130, 143). */
export const exitCodes = {
  /** Done; a relay: stopped by a signal, drained. */
  stopped: 0,
  /** A bug: an error that nobody expected. */
  unexpected: 1,
  /** The configuration is wrong; nothing was started. */
  config: 2,
  /** Could not start (database, port), not be migrated, or not be reached. */
  start: 3,
  /** Stopped by a signal, and connections were cut because the drain took longer than `drain_ms`. */
  drain: 4,
  /** The doctor found something that does not work. */
  unhealthy: 5,
} as const;
