/**
 * `current_date`: which day it is where the asker is, and what the usual words mean in dates. Read
 * anew at every call, so a conversation that runs past midnight is right (A37).
 *
 * Needs no grant: it reads nothing of the owner's. Spec: docs/sources.md "Dates".
 */
import { clockText, isZone, wallTimeAt, weekdayName, zoneOffsetMs } from "../sources/zoned-time.ts";
import { type DateRange, dateRanges } from "./date-ranges.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** The tool. */
export const currentDate: Tool = {
  declaration: declarationOf("current_date"),
  run: async (_args, { nowMs, zone }) => {
    if (!isZone(zone)) {
      return failure(
        `the time zone of whoever asks is not known: expected an IANA name such as Europe/Berlin, got ${zone}`,
      );
    }
    const lines = currentDateLines(nowMs, zone);
    const text = lines.join("\n");
    return { ok: true, text, shown: lines.length, total: lines.length, untrusted: false };
  },
};

function currentDateLines(nowMs: number, zone: string): readonly string[] {
  const wall = wallTimeAt(nowMs, zone);
  const [today, ...ranges] = dateRanges(nowMs, zone);
  if (today === undefined) throw new Error("there is always a today");
  const offset = offsetText(zoneOffsetMs(nowMs, zone));
  return [
    `today: ${today.from} (${weekdayName(wall.day)}), ${clockText(wall)} in ${zone} (${offset})`,
    ...ranges.map((range) => `${range.name}: ${rangeText(range)}`),
  ];
}

function rangeText({ from, to }: DateRange): string {
  return from === to ? from : `${from} to ${to}`;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000;
  return `UTC${offsetMs < 0 ? "-" : "+"}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`;
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}
