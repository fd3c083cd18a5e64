/**
 * `current_date`: which day it is where the asker is, and what the words of the question mean in dates;
 * where it has none, what the usual words mean. Read anew at every call, so a conversation that runs
 * past midnight is right (A37).
 *
 * Needs no grant: it reads nothing of the owner's. Spec: docs/sources.md "Dates".
 */
import {
  clockText,
  dayText,
  isZone,
  parseDay,
  wallTimeAt,
  weekdayName,
  zoneOffsetMs,
} from "../sources/zoned-time.ts";
import { dateRanges } from "./date-ranges.ts";
import { type Days, daysOf } from "./question-dates.ts";
import { declarationOf, failure, type Tool, type ToolContext } from "./tool.ts";

/** The tool. */
export const currentDate: Tool = {
  declaration: declarationOf("current_date"),
  run: async (_args, { nowMs, zone, question = "" }) => {
    if (!isZone(zone)) {
      return failure(
        `the time zone of whoever asks is not known: expected an IANA name such as Europe/Berlin, got ${zone}`,
      );
    }
    const lines = currentDateLines({ nowMs, zone, question });
    const text = lines.join("\n");
    return { ok: true, text, shown: lines.length, total: lines.length, untrusted: false };
  },
};

function currentDateLines({
  nowMs,
  zone,
  question,
}: Required<Pick<ToolContext, "nowMs" | "zone" | "question">>): readonly string[] {
  const wall = wallTimeAt(nowMs, zone);
  const ranges = dateRanges(nowMs, zone);
  const offset = offsetText(zoneOffsetMs(nowMs, zone));
  const today = `today: ${longDay(wall.day)}, ${clockText(wall)} in ${zone} (${offset})`;
  const asked = daysOf(question, ranges);
  // Every figure is a token of a model: ranges that nobody asked about cost seconds on a small machine.
  return asked === undefined
    ? [today, ...ranges.slice(1).map(({ name, ...days }) => `${name}: ${rangeText(days)}`)]
    : [
        today,
        `${askedDays}: ${[...new Set([asked.from, asked.to])].map(withWeekday).join(" to ")}`,
      ];
}

/** How the line begins that says which days the question speaks of. */
export const askedDays = "the days asked about";

function withWeekday(text: string): string {
  const day = parseDay(text);
  return day === undefined ? text : longDay(day);
}

function longDay(day: number): string {
  return `${dayText(day)} (${weekdayName(day)})`;
}

function rangeText({ from, to }: Days): string {
  return from === to ? from : `${from} to ${to}`;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000;
  return `UTC${offsetMs < 0 ? "-" : "+"}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`;
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}
