/**
 * The owner's calendar: every .ics file that is granted, alone or in a folder, read anew when asked.
 * A file that cannot be read is named in the answer and hides no other (O28 began as a silent one).
 *
 * Who may read what is decided by the paths that are passed in. Spec: docs/sources.md "Calendar".
 */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

import {
  type CalendarEvent,
  type Occurrences,
  occurrencesIn,
  parseCalendars,
  type Window,
} from "./calendar-events.ts";

/** Events in order of time, and what was left out and why. */
export interface CalendarAnswer extends Occurrences {
  readonly files: number;
}

/** A calendar of ten years takes a few megabytes. Units: bytes. */
const maxFileBytes = 16 * 1_048_576;
/** Files of one calendar. */
const maxFiles = 500;

/** What the granted paths hold in a window. Never throws for what lies on the disk. */
export async function readCalendar(
  targets: readonly string[],
  window: Window,
  signal: AbortSignal,
): Promise<CalendarAnswer> {
  const events: CalendarEvent[] = [];
  const problems: string[] = [];
  let files = 0;
  for (const target of targets) {
    const found = await icsFiles(target);
    problems.push(...found.problems);
    for (const file of found.files) {
      if (signal.aborted)
        return { events: sorted(events), problems: [...problems, "stopped"], files };
      if (files >= maxFiles) {
        return {
          events: sorted(events),
          problems: [...problems, `only ${maxFiles} files were read`],
          files,
        };
      }
      files += 1;
      const read = await occurrencesOfFile(file, window, signal);
      events.push(...read.events);
      problems.push(...read.problems.map((problem) => `${path.basename(file)}: ${problem}`));
    }
  }
  return { events: sorted(events), problems, files };
}

async function icsFiles(
  target: string,
): Promise<{ readonly files: readonly string[]; readonly problems: readonly string[] }> {
  try {
    if (!(await stat(target)).isDirectory()) return { files: [target], problems: [] };
    const names = await readdir(target);
    const files = names.filter((name) => /\.ics$/i.test(name)).toSorted();
    return { files: files.map((name) => path.join(target, name)), problems: [] };
  } catch (cause) {
    return { files: [], problems: [`${path.basename(target)}: cannot be read (${codeOf(cause)})`] };
  }
}

async function occurrencesOfFile(
  file: string,
  window: Window,
  signal: AbortSignal,
): Promise<Occurrences> {
  try {
    const { size } = await stat(file);
    if (size > maxFileBytes) {
      return none(`larger than ${maxFileBytes} bytes, left out`);
    }
    return await occurrencesOf(await readFile(file, "utf8"), window, signal);
  } catch (cause) {
    // ical.js throws errors of its own for every malformed line.
    return none(`left out, not a calendar that can be read (${codeOf(cause)})`);
  }
}

/** Some programs write several calendars into one file. */
async function occurrencesOf(
  text: string,
  window: Window,
  signal: AbortSignal,
): Promise<Occurrences> {
  const events: CalendarEvent[] = [];
  const problems: string[] = [];
  for (const calendar of parseCalendars(text)) {
    const part = await occurrencesIn(calendar, window, signal);
    events.push(...part.events);
    problems.push(...part.problems);
  }
  return { events, problems };
}

function none(problem: string): Occurrences {
  return { events: [], problems: [problem] };
}

function sorted(events: readonly CalendarEvent[]): readonly CalendarEvent[] {
  return events.toSorted(
    (left, right) => orderOf(left) - orderOf(right) || left.title.localeCompare(right.title, "en"),
  );
}

function orderOf({ when }: CalendarEvent): number {
  return when.type === "days" ? when.firstDay * 86_400_000 - 1 : when.startMs;
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown";
  if ("code" in cause) return String(cause.code);
  // ical.js quotes the line that it stumbled over: what is in a foreign file is not repeated.
  return cause.message.replace(/".*/s, "").trim().slice(0, 120);
}
