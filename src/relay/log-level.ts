/** Levels that the setting `log_level` accepts, quietest first. Apart from log.ts, which loads pino. */
export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];
