/**
 * Events of one calendar file between two instants: recurrence is expanded in the event's own zone
 * (A38), with exclusions, moved and cancelled occurrences, and all-day events as dates.
 *
 * It reads no files and formats nothing. Expansion is bounded, and says so when the bound is met.
 * Spec: docs/sources.md "Calendar".
 */
import { setImmediate } from "node:timers/promises";

import ICAL from "ical.js";

import { withinSteps } from "./calendar-steps.ts";
import { addMissingZones } from "./calendar-zones.ts";
import { instantOf } from "./zoned-time.ts";

/** One occurrence. Instants for timed events, civil days (both included) for all-day ones. */
export interface CalendarEvent {
  readonly title: string;
  readonly place: string;
  readonly when:
    | { readonly type: "timed"; readonly startMs: number; readonly endMs: number }
    | { readonly type: "days"; readonly firstDay: number; readonly lastDay: number };
  /** A zone that nobody defines: the time was read as the asker's. */
  readonly unknownZone: string | undefined;
}

/** What is asked of a calendar: the end is excluded. `zone`: the asker's, for times without one. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fromDay: number;
  /** Included. */
  readonly toDay: number;
  readonly zone: string;
}

/** Events that were found, and what could not be read or was cut. */
export interface Occurrences {
  readonly events: readonly CalendarEvent[];
  readonly problems: readonly string[];
}

/** Steps of one recurrence: over a hundred years of days. What steps on is cut and named. */
const maxSteps = 40_000;
/** Occurrences of one event in one answer. */
const maxOccurrences = 1_000;

/** The calendars of a file, parsed. Throws what ical.js throws on anything malformed. */
export function parseCalendars(text: string): readonly ICAL.Component[] {
  const parsed: unknown = ICAL.parse(text);
  const list: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  // One calendar is ["vcalendar", …], several are a list of those.
  const calendars = typeof list[0] === "string" ? [list] : list;
  return calendars.map((calendar) => {
    if (!Array.isArray(calendar) || calendar[0] !== "vcalendar") {
      throw new Error("expected a VCALENDAR");
    }
    return new ICAL.Component(calendar);
  });
}

/** The occurrences in a window. A malformed event is a problem and hides no other. */
export async function occurrencesIn(
  calendar: ICAL.Component,
  window: Window,
  signal: AbortSignal,
): Promise<Occurrences> {
  const unknownZones = addMissingZones(calendar);
  const events: CalendarEvent[] = [];
  const problems: string[] = [];
  for (const [uid, components] of eventsByUid(calendar)) {
    // One event is bounded, a file of them is not: the rest of the device goes on in between.
    await setImmediate();
    if (signal.aborted) return { events, problems: [...problems, "stopped"] };
    const series = { components, window, unknownZones, events };
    try {
      if (!withinSteps(() => expand(series)))
        problems.push(`“${titleOf(components)}” repeats too often: cut`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : "malformed";
      problems.push(`“${titleOf(components)}” (${uid}) cannot be read: ${reason}`);
    }
  }
  return { events, problems };
}

interface Series {
  /** The event, and its occurrences that were changed one by one. */
  readonly components: readonly ICAL.Component[];
  readonly window: Window;
  readonly unknownZones: ReadonlySet<string>;
  readonly events: CalendarEvent[];
}

function eventsByUid(calendar: ICAL.Component): ReadonlyMap<string, readonly ICAL.Component[]> {
  const byUid = new Map<string, ICAL.Component[]>();
  calendar.getAllSubcomponents("vevent").forEach((component, index) => {
    const uid = String(component.getFirstPropertyValue("uid") ?? `event ${index + 1}`);
    byUid.set(uid, [...(byUid.get(uid) ?? []), component]);
  });
  return byUid;
}

/** Adds what lies in the window. Returns false when the series was cut. */
function expand(series: Series): boolean {
  const { components, window } = series;
  const exceptions = components.filter(isException);
  const master = components.find((component) => !isException(component));
  const replaced = new Set(exceptions.map((each) => instantKey(series, recurrenceOf(each))));
  // Changed occurrences count where they are now, wherever they were.
  for (const each of exceptions) add(series, new ICAL.Event(each));
  if (master === undefined) return true;
  const event = new ICAL.Event(master);
  if (!event.isRecurring()) {
    add(series, event);
    return true;
  }
  const iterator = event.iterator();
  let added = 0;
  for (let step = 0; step < maxSteps; step += 1) {
    const next: ICAL.Time | null = iterator.next() ?? null;
    if (next === null || startOf(series, next) >= window.toMs + dayMs) return true;
    if (replaced.has(instantKey(series, next))) continue;
    if (!add(series, event, next)) continue;
    added += 1;
    if (added > maxOccurrences) return false;
  }
  return false;
}

const dayMs = 86_400_000;

function isException(component: ICAL.Component): boolean {
  return component.hasProperty("recurrence-id");
}

/** Adds an occurrence when it touches the window and is not cancelled. */
function add(series: Series, event: ICAL.Event, start: ICAL.Time = event.startDate): boolean {
  if (event.component.getFirstPropertyValue("status") === "CANCELLED") return false;
  const when = whenOf(series, event, start);
  if (!touches(when, series.window)) return false;
  const zone = start.isDate ? "" : zoneNameOf(event.component);
  series.events.push({
    title: oneLine(event.summary),
    place: oneLine(event.location),
    when,
    unknownZone: series.unknownZones.has(zone) ? zone : undefined,
  });
  return true;
}

function whenOf(series: Series, event: ICAL.Event, start: ICAL.Time): CalendarEvent["when"] {
  const end = start.clone();
  end.addDuration(event.duration);
  if (start.isDate) {
    const firstDay = dayNumber(start);
    // DTEND is the day after the last one; without one, an event fills its day.
    return { type: "days", firstDay, lastDay: Math.max(firstDay, dayNumber(end) - 1) };
  }
  const startMs = startOf(series, start);
  return { type: "timed", startMs, endMs: Math.max(startMs, startOf(series, end)) };
}

function touches(when: CalendarEvent["when"], window: Window): boolean {
  if (when.type === "days") return when.firstDay <= window.toDay && when.lastDay >= window.fromDay;
  const { startMs, endMs } = when;
  // An event without length lies where it starts.
  return startMs < window.toMs && (endMs > window.fromMs || startMs >= window.fromMs);
}

/** The instant of a time. A floating one, or one of an unknown zone, is read in the asker's zone. */
function startOf({ window }: Series, time: ICAL.Time): number {
  const { zone } = time;
  const floating = time.isDate || zone === undefined || zone === ICAL.Timezone.localTimezone;
  if (!floating) return time.toUnixTime() * 1_000;
  const wall = { day: dayNumber(time), dayMs: clockMs(time) };
  return instantOf(wall, window.zone);
}

function instantKey(series: Series, time: ICAL.Time): string {
  return time.isDate ? `day ${dayNumber(time)}` : String(startOf(series, time));
}

function recurrenceOf(component: ICAL.Component): ICAL.Time {
  const value: unknown = component.getFirstPropertyValue("recurrence-id");
  if (value instanceof ICAL.Time) return value;
  throw new Error("expected a time in RECURRENCE-ID");
}

function zoneNameOf(component: ICAL.Component): string {
  const name = component.getFirstProperty("dtstart")?.getParameter("tzid");
  return typeof name === "string" ? name : "";
}

function dayNumber({ year, month, day }: ICAL.Time): number {
  return Date.UTC(year, month - 1, day) / dayMs;
}

function clockMs({ hour, minute, second }: ICAL.Time): number {
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

function titleOf(components: readonly ICAL.Component[]): string {
  return oneLine(components[0]?.getFirstPropertyValue("summary"));
}

/** Foreign text on one line, cut: a title is not the place for a novel. */
function oneLine(value: unknown): string {
  const text = typeof value === "string" ? value : "";
  return text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 200);
}
