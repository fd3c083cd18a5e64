/**
 * The relay as a foreground process: start, say so in one line on stdout, stop on a signal.
 *
 * SIGTERM and SIGINT mean the same (O36) and are heard from the first moment: stop accepting, finish
 * commits, close sockets, end within `drain_ms`. A second signal ends the process at once; what was
 * accepted is on disk either way. Reading flags is cli.ts, building the relay is index.ts.
 */
import { systemClock } from "../shared/clock.ts";
import { softwareVersion } from "../shared/wire/version.ts";
import { clockProblem } from "./admin/clock-problem.ts";
import type { RelayConfig } from "./config.ts";
import { exitCodes } from "./exit-codes.ts";
import { createRelay, type Relay } from "./index.ts";
import { createLog } from "./log.ts";

/** How to run. */
export interface RunOptions {
  readonly config: RelayConfig;
  /** Print the commands that connect a first device. */
  readonly hints: boolean;
}

/** After the drain: a fast stop of the embedded database. */
const closingMs = 5_000;

type StopSignal = "SIGTERM" | "SIGINT";

const signalNumbers: Readonly<Record<StopSignal, number>> = { SIGINT: 2, SIGTERM: 15 };

/** Runs the relay until a signal; resolves with the exit code. */
export async function runRelay({ config, hints }: RunOptions): Promise<number> {
  const log = createLog({ level: config.logLevel });
  const wrongClock = clockProblem(systemClock.nowMs());
  if (wrongClock !== undefined) {
    process.stderr.write(`pixie relay: ${wrongClock}\n`);
    return exitCodes.start;
  }
  const signal = firstSignal();
  const started = await createRelay({ config, log });
  if (!started.ok) {
    process.stderr.write(`pixie relay: ${started.error.message}\n`);
    return exitCodes.start;
  }
  const relay = started.value;
  process.stdout.write(`${readyLine(relay, config)}\n`);
  if (hints) process.stderr.write(hintText(relay.url));
  log.info({ signal: await signal, drainMs: config.drainMs }, "stopping");
  if (await drained(relay, config.drainMs)) return exitCodes.stopped;
  log.error({ drainMs: config.drainMs }, "the drain took too long and was cut short");
  return exitCodes.drain;
}

function readyLine(relay: Relay, config: RelayConfig): string {
  return JSON.stringify({
    ready: true,
    url: relay.url,
    port: relay.port,
    admin: relay.adminUrl,
    pid: process.pid,
    database: config.databaseUrl === undefined ? "embedded" : "external",
    version: softwareVersion,
  });
}

function hintText(url: string): string {
  return `\nConnect a first device, in another terminal:\n\n  npx pixie device init --relay ${url} --name "Alice"\n  npx pixie device run\n\n`;
}

function firstSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let stopping = false;
    const hear = (signal: StopSignal): void => {
      if (stopping) process.exit(128 + signalNumbers[signal]);
      stopping = true;
      resolve(signal);
    };
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  });
}

/**
 * Closes the relay; false when that took longer than the bound. The relay cuts connections there and
 * needs a moment more to close its database, which it gets. Real time: the process has to end in it.
 */
async function drained(relay: Relay, boundMs: number): Promise<boolean> {
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, boundMs + closingMs);
  });
  await Promise.race([relay.close(), giveUp]);
  clearTimeout(timer);
  return performance.now() - begun < boundMs;
}
