/**
 * The stretch of time that two arguments of a model mean. A day that does not exist, or an end before
 * the start, is answered with what is expected instead of being bent into shape (A35).
 *
 * Spec: docs/sources.md "Calendar".
 */
import type { Window } from "../sources/calendar-events.ts";
import { instantOf, parseDay, wallTimeAt } from "../sources/zoned-time.ts";

const expected =
  "expected a day as YYYY-MM-DD that exists, or a time as YYYY-MM-DDTHH:MM, optionally with Z or an offset";

/** The window from one day or time to another, both days included, or why there is none. */
export function windowOf(from: string, to: string, zone: string): Window | string {
  const start = parseBound(from, zone, 0);
  if (start === undefined) return `from: ${expected}; got ${JSON.stringify(from.slice(0, 40))}`;
  // The last day is included: it ends where the next begins.
  const end = parseBound(to, zone, 1);
  if (end === undefined) return `to: ${expected}; got ${JSON.stringify(to.slice(0, 40))}`;
  if (start >= end) return `expected from before to, got from ${from} to ${to}`;
  const fromDay = wallTimeAt(start, zone).day;
  const toDay = wallTimeAt(end - 1, zone).day;
  return { fromMs: start, toMs: end, fromDay, toDay, zone };
}

const timeForm = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/;

/** The instant that a text means; `daysOn` is added to a day without a time. */
function parseBound(text: string, zone: string, daysOn: number): number | undefined {
  const [dayPart = "", timePart, ...rest] = text.trim().split(/[T ]/);
  const day = parseDay(dayPart);
  if (day === undefined || rest.length > 0) return undefined;
  if (timePart === undefined) return instantOf({ day: day + daysOn, dayMs: 0 }, zone);
  const time = timeForm.exec(timePart);
  if (time === null) return undefined;
  const [, hour = "0", minute = "0", second = "0", offset] = time;
  const dayMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
  return offset === undefined
    ? instantOf({ day, dayMs }, zone)
    : Date.parse(`${dayPart}T00:00:00${offset}`) + dayMs;
}
