/**
 * The relay's log: pino, one JSON line per event, on stderr (stdout belongs to the ready line).
 *
 * It never holds tokens, keys, mailbox ids, addresses or bodies: callers log counts and types, and
 * the fields below are removed even where a caller forgets (O14). Pretty output only on a terminal.
 */
import { createRequire } from "node:module";

import { pino, type DestinationStream, type Logger } from "pino";

import type { LogLevel } from "./log-level.ts";

export type { Logger } from "pino";

/** Field names whose values never reach the log, at the top and one level down. */
const hiddenFields = [
  "token",
  "key",
  "secret",
  "password",
  "databaseUrl",
  "authorization",
  "cookie",
  "mailbox",
  "mailboxes",
  "account",
  "deviceId",
  "aik",
  "slot",
  "body",
  "header",
  "headers",
  "remoteAddress",
  "ip",
  "query",
  "parameters",
];

/** Where and how much to log. Without a destination: stderr, pretty when that is a terminal. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly destination?: DestinationStream;
}

/** Opens the log. */
export function createLog(options: LogOptions): Logger {
  const settings = {
    level: options.level,
    base: { program: "relay" },
    redact: { paths: hiddenFields.flatMap((field) => [field, `*.${field}`]), remove: true },
  };
  const destination =
    options.destination ?? prettyStream() ?? pino.destination({ fd: 2, sync: true });
  return pino(settings, destination);
}

/** pino-pretty on a terminal, where it is installed (it is a development dependency). */
function prettyStream(): DestinationStream | undefined {
  if (!process.stderr.isTTY) return undefined;
  const require = createRequire(import.meta.url);
  try {
    require.resolve("pino-pretty");
  } catch {
    // Absent from a production install: JSON lines are then right for a terminal, too.
    return undefined;
  }
  return pino.transport({ target: "pino-pretty", options: { destination: 2 } });
}
