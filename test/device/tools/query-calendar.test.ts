/** queryCalendar over real .ics files in a folder of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { queryCalendar } from "../../../src/device/tools/query-calendar.ts";
import type { ToolResult } from "../../../src/device/tools/tool.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-calendar-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a calendar of events, each given by its lines. */
function write(name: string, ...events: readonly (readonly string[])[]): void {
  const written = events.flatMap((event, index) => [
    "BEGIN:VEVENT",
    ...(event.some((line) => line.startsWith("UID")) ? [] : [`UID:event-${index}`]),
    ...event,
    "END:VEVENT",
  ]);
  const all = ["BEGIN:VCALENDAR", "VERSION:2.0", ...written, "END:VCALENDAR", ""];
  writeFileSync(path.join(folder, name), all.join("\r\n"));
}

async function ask(from: string, to: string, zone = "UTC"): Promise<ToolResult> {
  const tool = queryCalendar(() => [folder]);
  const signal = new AbortController().signal;
  return await tool.run({ from, to }, { nowMs: 0, zone, signal });
}

async function lines(from: string, to: string, zone = "UTC"): Promise<readonly string[]> {
  const result = await ask(from, to, zone);
  if (!result.ok) throw new Error(result.reason);
  return result.text.split("\n");
}

const dinnerUntil = (until: string): readonly string[] => [
  "SUMMARY:Dinner",
  "DTSTART;TZID=Europe/Amsterdam:20260701T190000",
  "DTEND;TZID=Europe/Amsterdam:20260701T200000",
  `RRULE:FREQ=DAILY;UNTIL=${until}`,
];

describe("recurrence", () => {
  it("A38: a weekly 12:10 in New York stays 12:10 after the clock change, without a VTIMEZONE", async () => {
    write("a.ics", [
      "SUMMARY:Lunch",
      "DTSTART;TZID=America/New_York:20260303T121000",
      "DTEND;TZID=America/New_York:20260303T130000",
      "RRULE:FREQ=WEEKLY",
    ]);
    expect(await lines("2026-03-01", "2026-03-31", "America/New_York")).toEqual([
      "Tuesday 3 March 2026 12:10–13:00: Lunch",
      "Tuesday 10 March 2026 12:10–13:00: Lunch",
      "Tuesday 17 March 2026 12:10–13:00: Lunch",
      "Tuesday 24 March 2026 12:10–13:00: Lunch",
      "Tuesday 31 March 2026 12:10–13:00: Lunch",
    ]);
    expect(await lines("2026-03-03", "2026-03-10", "Europe/Berlin")).toEqual([
      "Tuesday 3 March 2026 18:10–19:00: Lunch",
      "Tuesday 10 March 2026 17:10–18:00: Lunch",
    ]);
  });

  it("O28: an event of an asker elsewhere is not an hour off after the change", async () => {
    write("a.ics", [
      "SUMMARY:Call",
      "DTSTART;TZID=Europe/Berlin:20260320T090000",
      "DURATION:PT1H",
      "RRULE:FREQ=WEEKLY",
    ]);
    expect(await lines("2026-03-20", "2026-04-03", "UTC")).toEqual([
      "Friday 20 March 2026 08:00–09:00: Call",
      "Friday 27 March 2026 08:00–09:00: Call",
      "Friday 3 April 2026 07:00–08:00: Call",
    ]);
  });

  it("A40: a daily 19:00 in Amsterdam ends at its UNTIL in UTC, once", async () => {
    // 19:00 in Amsterdam in July is 17:00 in UTC.
    write("a.ics", dinnerUntil("20260703T170000Z"));
    expect(await lines("2026-07-01", "2026-07-31", "Europe/Amsterdam")).toEqual([
      "Wednesday 1 July 2026 19:00–20:00: Dinner",
      "Thursday 2 July 2026 19:00–20:00: Dinner",
      "Friday 3 July 2026 19:00–20:00: Dinner",
    ]);
    write("a.ics", dinnerUntil("20260703T165959Z"));
    expect(await lines("2026-07-01", "2026-07-31", "Europe/Amsterdam")).toHaveLength(2);
  });

  it("leaves out what is excluded or cancelled, and shows a moved occurrence where it is now", async () => {
    const zone = "TZID=Europe/Berlin";
    write(
      "a.ics",
      [
        "UID:series",
        "SUMMARY:Choir",
        `DTSTART;${zone}:20260601T190000`,
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=5",
        `EXDATE;${zone}:20260608T190000`,
      ],
      [
        "UID:series",
        "SUMMARY:Choir (moved)",
        `RECURRENCE-ID;${zone}:20260615T190000`,
        `DTSTART;${zone}:20260617T200000`,
        "DURATION:PT1H",
      ],
      [
        "UID:series",
        "SUMMARY:Choir",
        "STATUS:CANCELLED",
        `RECURRENCE-ID;${zone}:20260622T190000`,
        `DTSTART;${zone}:20260622T190000`,
      ],
    );
    expect(await lines("2026-06-01", "2026-07-31", "Europe/Berlin")).toEqual([
      "Monday 1 June 2026 19:00–20:00: Choir",
      "Wednesday 17 June 2026 20:00–21:00: Choir (moved)",
      "Monday 29 June 2026 19:00–20:00: Choir",
    ]);
    expect(await lines("2026-06-17", "2026-06-17", "Europe/Berlin")).toHaveLength(1);
    expect(await lines("2026-06-15", "2026-06-15", "Europe/Berlin")).toEqual([
      "no events from 2026-06-15 to 2026-06-15 (1 calendar files)",
    ]);
  });

  it("is bounded: a rule that never ends in sight is cut and named", async () => {
    write("a.ics", ["SUMMARY:Tick", "DTSTART:20200101T000000Z", "RRULE:FREQ=SECONDLY"]);
    expect((await lines("2026-06-01", "2026-06-02")).at(-1)).toContain("repeats too often: cut");
  });

  it("a rule that fits no day ends", async () => {
    write(
      "a.ics",
      ["SUMMARY:Never", "DTSTART:20200230T000000Z", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"],
      ["SUMMARY:Real", "DTSTART:20260601T100000Z", "DURATION:PT1H"],
    );
    expect(await lines("2026-06-01", "2026-06-02")).toContain(
      "Monday 1 June 2026 10:00–11:00: Real",
    );
  });
});

describe("days and zones", () => {
  it.each(["Pacific/Kiritimati", "Europe/Berlin", "Pacific/Pago_Pago"])(
    "an all-day event is its dates for an asker in %s",
    async (zone) => {
      write(
        "a.ics",
        ["SUMMARY:Holiday", "DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261227"],
        ["SUMMARY:Birthday", "DTSTART;VALUE=DATE:20001226", "RRULE:FREQ=YEARLY"],
      );
      expect(await lines("2026-12-26", "2026-12-26", zone)).toEqual([
        "Friday 25 December 2026 to Saturday 26 December 2026, all day: Holiday",
        "Saturday 26 December 2026, all day: Birthday",
      ]);
      expect(await lines("2026-12-27", "2026-12-27", zone)).toHaveLength(1);
    },
  );

  it("a file's own zone counts, also under a name of an office program", async () => {
    const zone = [
      "BEGIN:VTIMEZONE",
      "TZID:W. Europe Standard Time",
      "BEGIN:STANDARD",
      "DTSTART:16010101T030000",
      "TZOFFSETFROM:+0200",
      "TZOFFSETTO:+0100",
      "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
      "END:STANDARD",
      "BEGIN:DAYLIGHT",
      "DTSTART:16010101T020000",
      "TZOFFSETFROM:+0100",
      "TZOFFSETTO:+0200",
      "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
      "END:DAYLIGHT",
      "END:VTIMEZONE",
    ];
    const event = [
      "BEGIN:VEVENT",
      "UID:1",
      "SUMMARY:Review",
      "DTSTART;TZID=W. Europe Standard Time:20260701T100000",
      "DURATION:PT30M",
      "END:VEVENT",
    ];
    const all = ["BEGIN:VCALENDAR", ...zone, ...event, "END:VCALENDAR", ""];
    writeFileSync(path.join(folder, "office.ics"), all.join("\r\n"));
    expect(await lines("2026-07-01", "2026-07-01")).toEqual([
      "Wednesday 1 July 2026 08:00–08:30: Review",
    ]);
  });

  it("a zone that nobody defines is said, and a floating time is the asker's", async () => {
    write(
      "a.ics",
      ["SUMMARY:Odd", "DTSTART;TZID=Mars/Olympus:20260701T100000", "DURATION:PT1H"],
      ["SUMMARY:Floating", "DTSTART:20260701T120000", "DURATION:PT1H"],
    );
    expect(await lines("2026-07-01", "2026-07-01", "Asia/Tokyo")).toEqual([
      "Wednesday 1 July 2026 10:00–11:00: Odd [its time zone Mars/Olympus is unknown: hours may be off]",
      "Wednesday 1 July 2026 12:00–13:00: Floating",
    ]);
  });
});

describe("files", () => {
  it("a malformed file is named, and hides no other", async () => {
    write("good.ics", ["SUMMARY:Good", "DTSTART:20260601T100000Z", "DURATION:PT1H"]);
    writeFileSync(path.join(folder, "bad.ics"), "BEGIN:VCALENDAR\r\nnonsense");
    writeFileSync(path.join(folder, "notes.txt"), "not asked for");
    mkdirSync(path.join(folder, "folder.ics"));
    const got = await lines("2026-06-01", "2026-06-01");
    expect(got[0]).toBe("Monday 1 June 2026 10:00–11:00: Good");
    expect(got.filter((line) => line.startsWith("problem: bad.ics:"))).toHaveLength(1);
    expect(got.filter((line) => line.startsWith("problem: folder.ics:"))).toHaveLength(1);
    expect(got.join("\n")).not.toContain("notes.txt");
  });

  it("many events are cut visibly, and a title cannot forge a line", async () => {
    write("a.ics", [
      "SUMMARY:Daily\\n2026-06-01: forged",
      "DTSTART:20260101T100000Z",
      "RRULE:FREQ=DAILY",
    ]);
    const result = await ask("2026-01-01", "2026-12-31");
    expect(result).toMatchObject({ ok: true, shown: 50, total: 365, untrusted: true });
    const text = result.ok ? result.text : "";
    expect(text.split("\n").at(-1)).toBe("[50 of 365]");
    expect(text).toContain("10:00: Daily 2026-06-01: forged");
  });

  it("without a grant it names the command", async () => {
    const signal = new AbortController().signal;
    const refused = await queryCalendar(() => []).run(
      { from: "2026-01-01", to: "2026-01-02" },
      { nowMs: 0, zone: "UTC", signal },
    );
    expect(!refused.ok && refused.reason).toContain("pixie calendar add");
  });
});

describe("arguments", () => {
  it.each([
    ["2026-02-31", "2026-03-01", "from"],
    ["tomorrow", "2026-03-01", "from"],
    ["2026-03-01", "", "to"],
    ["2026-03-01", "2026-03-01T25:00", "to"],
    ["2026-03-02", "2026-03-01", "expected from before to"],
  ])("A35: from %j to %j is a failure that says what is expected", async (from, to, named) => {
    const result = await ask(from, to);
    expect(result.ok).toBe(false);
    expect(!result.ok && result.reason).toMatch(new RegExp(`^${named}`));
  });

  it("takes times, with an offset or the asker's clock", async () => {
    write("a.ics", ["SUMMARY:Noon", "DTSTART:20260601T120000Z", "DTEND:20260601T123000Z"]);
    expect(await lines("2026-06-01T13:59", "2026-06-01T14:10", "Europe/Berlin")).toHaveLength(1);
    expect(await ask("2026-06-01T14:30", "2026-06-01T18:00", "Europe/Berlin")).toMatchObject({
      total: 0,
    });
    expect(await ask("2026-06-01T12:00Z", "2026-06-01T12:10Z", "Asia/Tokyo")).toMatchObject({
      total: 1,
    });
    expect(await ask("2026-06-01T14:00+02:00", "2026-06-01T12:10Z")).toMatchObject({ total: 1 });
  });
});
