/**
 * Days and wall clocks of a named zone, on Intl alone: the zone is always said, and the host's own
 * is never consulted (A34, A37).
 *
 * A civil day is a count of days since 1970-01-01, so that days are added without hours and without
 * daylight saving. Spec: docs/sources.md "Dates".
 */

/** What a clock on the wall of some zone shows. */
export interface WallTime {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** Since midnight as the wall clock counts it. Units: ms. */
  readonly dayMs: number;
}

const msOfDay = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a text names a zone that this runtime knows. */
export function isZone(zone: string): boolean {
  return formatOf(zone) !== undefined;
}

/** What a wall clock of the zone shows at an instant. Throws for an unknown zone. */
export function wallTimeAt(instantMs: number, zone: string): WallTime {
  const shown = instantMs + zoneOffsetMs(instantMs, zone);
  const day = Math.floor(shown / msOfDay);
  return { day, dayMs: shown - day * msOfDay };
}

/** How far the zone is ahead of UTC at an instant. Units: ms, whole seconds. */
export function zoneOffsetMs(instantMs: number, zone: string): number {
  const format = formatOf(zone);
  if (format === undefined) throw new Error(`expected the IANA name of a time zone, got ${zone}`);
  const parts = new Map<string, number>(
    format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: string): number => parts.get(type) ?? 0;
  const shown = Date.UTC(
    of("year"),
    of("month") - 1,
    of("day"),
    of("hour"),
    of("minute"),
    of("second"),
  );
  return shown - Math.floor(instantMs / 1_000) * 1_000;
}

/**
 * The instant at which the zone's wall clocks show that. A time that a clock change skips is read
 * with the offset before the change, one that comes twice is its first (RFC 5545, 3.3.5).
 */
export function instantOf(wall: WallTime, zone: string): number {
  const asUtc = wall.day * msOfDay + wall.dayMs;
  // No offset reaches a day, so these are the offsets on both sides of any change near by.
  const before = zoneOffsetMs(asUtc - msOfDay, zone);
  const after = zoneOffsetMs(asUtc + msOfDay, zone);
  const early = asUtc - before;
  if (zoneOffsetMs(early, zone) === before) return early;
  const late = asUtc - after;
  return zoneOffsetMs(late, zone) === after ? late : early;
}

/** 1 is Monday, 7 is Sunday. */
export function weekdayOf(day: number): number {
  // 1970-01-01 was a Thursday.
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

const weekdayNames = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
] as const;

/** The weekday's English name. */
export function weekdayName(day: number): string {
  return weekdayNames[weekdayOf(day) - 1] ?? "";
}

/** The day as `YYYY-MM-DD`. */
export function dayText(day: number): string {
  return new Date(day * msOfDay).toISOString().slice(0, 10);
}

/** The wall clock as `HH:MM`. */
export function clockText({ dayMs }: WallTime): string {
  return new Date(dayMs).toISOString().slice(11, 16);
}

/** Days since 1970-01-01 of a `YYYY-MM-DD`; `undefined` for anything else, 2026-02-31 included. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms)) return undefined;
  const day = ms / msOfDay;
  return dayText(day) === text ? day : undefined;
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
    return format;
  } catch (cause) {
    // Intl has no other way to ask.
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}
