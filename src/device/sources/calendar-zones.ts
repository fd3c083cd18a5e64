/**
 * Time zones of a calendar file: its own VTIMEZONE counts, and where a file names a zone without
 * bringing it, the definition comes from the zone library. ical.js would read such a time as
 * floating, hours off and without a word.
 *
 * Definitions are added to the parsed file, never to ical.js's global table: one file's idea of a
 * zone must not reach another's. Spec: docs/sources.md "Calendar".
 */
import ICAL from "ical.js";
import { tzlib_get_ical_block, tzlib_get_timezones } from "timezones-ical-library";

/** Adds the zones that the file names and lacks. Returns the names that nobody defines. */
export function addMissingZones(calendar: ICAL.Component): ReadonlySet<string> {
  const own = new Set(
    calendar.getAllSubcomponents("vtimezone").map((zone) => zone.getFirstPropertyValue("tzid")),
  );
  const unknown = new Set<string>();
  for (const name of namedZones(calendar)) {
    if (own.has(name)) continue;
    const zone = libraryZone(name);
    if (zone === undefined) unknown.add(name);
    else calendar.addSubcomponent(zone);
  }
  return unknown;
}

/** Names of zones in a file's events. */
function namedZones(calendar: ICAL.Component): ReadonlySet<string> {
  const names = new Set<string>();
  for (const event of calendar.getAllSubcomponents("vevent")) {
    for (const property of event.getAllProperties()) {
      const name = property.getParameter("tzid");
      if (typeof name === "string") names.add(name);
    }
  }
  return names;
}

const libraryNames = new Map<string, string>(
  [tzlib_get_timezones()].flat().map((name) => [name.toLowerCase(), name]),
);

function libraryZone(name: string): ICAL.Component | undefined {
  // Some programs write a prefix before the name: /freeassociation.sourceforge.net/Europe/Berlin.
  const short = name.split("/").slice(-2).join("/");
  const known = libraryNames.get(name.toLowerCase()) ?? libraryNames.get(short.toLowerCase());
  if (known === undefined) return undefined;
  const [block = ""] = [tzlib_get_ical_block(known)].flat();
  const zone = ICAL.Component.fromString(block);
  // Under the name that the file uses.
  zone.updatePropertyWithValue("tzid", name);
  return zone;
}
