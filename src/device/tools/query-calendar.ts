/**
 * `queryCalendar`: the events between two days or times, told in the asker's zone.
 *
 * Events are words of whoever invited, so the result is untrusted. Spec: docs/sources.md "Calendar".
 */
import { readCalendar } from "../sources/calendar.ts";
import type { CalendarEvent } from "../sources/calendar-events.ts";
import { clockText, dayText, isZone, wallTimeAt, weekdayName } from "../sources/zoned-time.ts";
import { windowOf } from "./calendar-window.ts";
import { entriesResult } from "./cut.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** Events in one result. */
const maxShown = 50;
/** What is wrong with files, in one result. */
const maxProblems = 10;

/** Builds the tool. `targets`: the files and folders that are granted, asked at every call. */
export function queryCalendar(targets: () => readonly string[]): Tool {
  return {
    declaration: declarationOf("queryCalendar"),
    run: async (args, { nowMs, zone, signal }) => {
      if (!isZone(zone)) return failure(`the asker's time zone is not known: ${zone}`);
      const window = windowOf(args["from"] ?? "", args["to"] ?? "", zone);
      if (typeof window === "string") return failure(window);
      const granted = targets();
      if (granted.length === 0) {
        return failure(
          "no calendar is granted to the agent: the owner adds one with pixie calendar add <file-or-folder>",
        );
      }
      const { events, problems, files } = await readCalendar(granted, window, signal);
      if (signal.aborted) return failure("stopped before the calendar was read");
      const notes = [
        ...problems.slice(0, maxProblems).map((problem) => `problem: ${problem}`),
        ...(problems.length > maxProblems
          ? [`[${maxProblems} of ${problems.length} problems]`]
          : []),
      ];
      const span = `${dayText(window.fromDay)} to ${dayText(window.toDay)}`;
      if (events.length === 0) {
        const text = [`no events from ${span} (${files} calendar files)`, ...notes].join("\n");
        return { ok: true, text, shown: 0, total: 0, untrusted: notes.length > 0 };
      }
      const year = yearOf(wallTimeAt(nowMs, zone).day);
      const lines = events.slice(0, maxShown).map((event) => eventLine(event, { zone, year }));
      return entriesResult(lines, { untrusted: true, total: events.length, notes });
    },
  };
}

/** Where times are told, and the year that goes without saying there. */
interface Teller {
  readonly zone: string;
  readonly year: string;
}

function eventLine({ title, place, when, unknownZone }: CalendarEvent, teller: Teller): string {
  const what = `${title === "" ? "(no title)" : title}${place === "" ? "" : ` (${place})`}`;
  const odd =
    unknownZone === undefined ? "" : ` [its time zone ${unknownZone} is unknown: hours may be off]`;
  return `${whenText(when, teller)}: ${what}${odd}`;
}

function whenText(when: CalendarEvent["when"], teller: Teller): string {
  if (when.type === "days") {
    const { firstDay, lastDay } = when;
    return firstDay === lastDay
      ? `${spokenDay(firstDay, teller)}, all day`
      : `${spokenDay(firstDay, teller)} to ${spokenDay(lastDay, teller)}, all day`;
  }
  const start = wallTimeAt(when.startMs, teller.zone);
  const end = wallTimeAt(when.endMs, teller.zone);
  const until =
    when.startMs === when.endMs
      ? ""
      : start.day === end.day
        ? `–${clockText(end)}`
        : ` to ${spokenDay(end.day, teller)} ${clockText(end)}`;
  return `${spokenDay(start.day, teller)} ${clockText(start)}${until}`;
}

const months =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** A day in words: a third of the tokens of one in figures, and an answer repeats it. */
function spokenDay(day: number, { year }: Teller): string {
  const text = dayText(day);
  const month = months[Number(text.slice(5, 7)) - 1] ?? "";
  const otherYear = yearOf(day) === year ? "" : ` ${yearOf(day)}`;
  return `${weekdayName(day)} ${Number(text.slice(8))} ${month}${otherYear}`;
}

function yearOf(day: number): string {
  return dayText(day).slice(0, 4);
}
