/** Whatever a calendar file holds, reading it ends, and ends with an answer. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";

import { readCalendar } from "../../../src/device/sources/calendar.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-fuzz-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const sample = [
  "BEGIN:VCALENDAR",
  "BEGIN:VEVENT",
  "UID:1",
  "SUMMARY:Choir",
  "DTSTART;TZID=Europe/Berlin:20260601T190000",
  "DTEND;TZID=Europe/Berlin:20260601T200000",
  "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270101T000000Z",
  "EXDATE;TZID=Europe/Berlin:20260608T190000",
  "RDATE;TZID=Europe/Berlin:20260611T190000",
  "END:VEVENT",
  "BEGIN:VEVENT",
  "UID:1",
  "RECURRENCE-ID;TZID=Europe/Berlin:20260615T190000",
  "DTSTART;TZID=Europe/Berlin:20260616T190000",
  "DURATION:PT1H",
  "END:VEVENT",
  "END:VCALENDAR",
].join("\r\n");

const day = Date.parse("2026-06-01T00:00:00Z");
const window = {
  fromMs: day,
  toMs: day + 30 * 86_400_000,
  fromDay: day / 86_400_000,
  toDay: day / 86_400_000 + 29,
  zone: "Europe/Berlin",
};

async function read(text: string): ReturnType<typeof readCalendar> {
  const file = path.join(folder, "a.ics");
  writeFileSync(file, text);
  return await readCalendar([file], window, new AbortController().signal);
}

it("a calendar with a few characters changed is read or named", async () => {
  expect((await read(sample)).events.length).toBeGreaterThan(7);
  const change = fc.record({
    at: fc.nat({ max: sample.length - 1 }),
    length: fc.nat({ max: 12 }),
    by: fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom("0", "-", ";", ":", "\r\n", "Z", "9"),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      let text = sample;
      for (const { at, length, by } of changes) {
        text = text.slice(0, at) + by + text.slice(at + length);
      }
      const { files } = await read(text);
      expect(files).toBe(1);
    }),
    { numRuns: 150 },
  );
});

it("a rule that fits no day ends, and hides no other event", async () => {
  const endless = sample.replace(/RRULE.*/, "RRULE:FREQ=DAILY;BYDAY=-1SU;BYMONTH=2");
  const { problems, events } = await read(
    endless.replace(
      "END:VCALENDAR",
      "BEGIN:VEVENT\r\nUID:2\r\nDTSTART:20260602T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR",
    ),
  );
  expect(problems.join()).toContain("fits hardly any day");
  expect(events.length).toBeGreaterThan(0);
});

it("a rule of any parts ends", async () => {
  const number = fc.integer({ min: -60, max: 400 });
  const rule = fc.record({
    freq: fc.constantFrom("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"),
    part: fc.constantFrom("BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYHOUR", "BYSETPOS"),
    value: number,
    interval: fc.integer({ min: 0, max: 5 }),
    weekday: fc.constantFrom("MO", "-1SU", "5FR", "53MO"),
  });
  await fc.assert(
    fc.asyncProperty(rule, async ({ freq, part, value, interval, weekday }) => {
      const text = `RRULE:FREQ=${freq};INTERVAL=${interval};BYDAY=${weekday};${part}=${value}`;
      const { files } = await read(sample.replace(/RRULE.*/, text));
      expect(files).toBe(1);
    }),
    { numRuns: 25 },
  );
});
