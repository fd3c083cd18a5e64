/**
 * Asking the database with a bound on the wait: a database that hangs is answered for, not waited for.
 */
import type { Clock } from "../shared/clock.ts";
import { probeDatabase } from "./store/relay-state.ts";
import type { Sql } from "./store/sql-values.ts";

/** What is asked is given up after this. Units: ms. */
const answerMs = 2_000;

/** Whether the database answers in time. Never rejects. */
export async function isReady(sql: Sql, clock: Clock): Promise<boolean> {
  return (
    (await inTime(
      probeDatabase(sql).then(() => true),
      clock,
    )) ?? false
  );
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

/** Resolves after that time. Units: ms. */
export function after(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(delayMs, resolve);
  });
}
