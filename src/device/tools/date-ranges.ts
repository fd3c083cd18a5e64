/**
 * The ready-made ranges that people speak of, as inclusive dates in the asker's zone: a model copies
 * them and never computes.
 *
 * Weeks run from Monday to Sunday. Pure: the instant and the zone are given.
 * Spec: docs/sources.md "Dates".
 */
import { dayText, wallTimeAt, weekdayOf } from "../sources/zoned-time.ts";

/** The ranges that exist, in the order in which they are shown. */
export const rangeNames = [
  "today",
  "tomorrow",
  "this weekend",
  "next weekend",
  "this week",
  "next week",
  "this month",
  "next month",
  "next 7 days",
] as const;

/** One of `rangeNames`. */
export type RangeName = (typeof rangeNames)[number];

/** One range. Both days belong to it, as `YYYY-MM-DD`. */
export interface DateRange {
  readonly name: RangeName;
  readonly from: string;
  readonly to: string;
}

/** Every range as it is at that instant in that zone. Throws for an unknown zone. */
export function dateRanges(nowMs: number, zone: string): readonly DateRange[] {
  const today = wallTimeAt(nowMs, zone).day;
  const monday = today - weekdayOf(today) + 1;
  // On a Saturday or Sunday, "this weekend" is the one that is on.
  const saturday = monday + 5;
  const days: Readonly<Record<RangeName, readonly [from: number, to: number]>> = {
    today: [today, today],
    tomorrow: [today + 1, today + 1],
    "this weekend": [saturday, saturday + 1],
    "next weekend": [saturday + 7, saturday + 8],
    "this week": [monday, monday + 6],
    "next week": [monday + 7, monday + 13],
    "this month": monthOf(today, 0),
    "next month": monthOf(today, 1),
    "next 7 days": [today, today + 6],
  };
  return rangeNames.map((name) => {
    const [from, to] = days[name];
    return { name, from: dayText(from), to: dayText(to) };
  });
}

const msOfDay = 86_400_000;

function monthOf(day: number, ahead: number): readonly [from: number, to: number] {
  const date = new Date(day * msOfDay);
  const start = (months: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / msOfDay;
  return [start(ahead), start(ahead + 1) - 1];
}
