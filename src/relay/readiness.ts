/**
 * Asking the database with a bound on the wait: a database that hangs is answered for, not waited for.
 */
import type { Clock } from "../shared/clock.ts";
import type { StoragePressure } from "./delivery/storage-pressure.ts";
import { probeDatabase } from "./store/relay-state.ts";
import type { Sql } from "./store/sql-values.ts";

/** What is asked is given up after this. Units: ms. */
const answerMs = 2_000;
/** A commit may hang for ever (a standby that does not answer): nobody waits longer. Units: ms. */
const commitMs = 10_000;

/**
 * How the relay stands. With a full disk it is still ready: a balancer that took it away would keep
 * devices from fetching, and with that the disk from emptying.
 */
export interface Readiness {
  readonly status: "ok" | "storage-full" | "unavailable";
  readonly reason?: string;
}

/** Asks how the relay stands. Never rejects. */
export async function readReadiness(
  sql: Sql,
  storage: Pick<StoragePressure, "isFull">,
  clock: Clock,
): Promise<Readiness> {
  const answered = await inTime(
    probeDatabase(sql).then(() => true),
    clock,
  );
  if (answered !== true) return { status: "unavailable", reason: "the database does not answer" };
  return storage.isFull()
    ? { status: "storage-full", reason: "the disk is nearly full: nothing new is accepted" }
    : { status: "ok" };
}

/** What the database answers, or undefined when it fails or takes too long. Never rejects. */
export async function inTime<T>(asked: Promise<T>, clock: Clock): Promise<T | undefined> {
  try {
    return await Promise.race([asked, after(clock, answerMs).then(() => undefined)]);
  } catch {
    // Any failure is the answer: there is none.
    return undefined;
  }
}

/** The database did not finish in time. Whether it still will is unknown: asking again is safe. */
class UnfinishedError extends Error {
  override readonly name = "UnfinishedError";
}

/** What is being written, or a rejection with `UnfinishedError` at the bound of a commit. */
export async function withinBound<T>(writing: Promise<T>, clock: Clock): Promise<T> {
  let cancel: (() => void) | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.schedule(commitMs, () =>
      reject(new UnfinishedError(`the database did not commit within ${commitMs} ms`)),
    );
  });
  try {
    return await Promise.race([writing, late]);
  } finally {
    cancel?.();
  }
}

/** Resolves after that time. Units: ms. */
export function after(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(delayMs, resolve);
  });
}
