/** current_date against a slow oracle that walks days through Intl one by one. */
import { describe, expect, it } from "vitest";

import { instantOf, parseDay, wallTimeAt } from "../../../src/device/sources/zoned-time.ts";
import { currentDate } from "../../../src/device/tools/current-date.ts";
import { dateRanges } from "../../../src/device/tools/date-ranges.ts";

const zones = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Apia",
  "America/Sao_Paulo",
];
const hourMs = 3_600_000;
const signal = new AbortController().signal;

interface Day {
  readonly iso: string;
  readonly weekday: string;
}

/** What a calendar on the wall says: formatted by Intl in words, nothing computed. */
function wallCalendar(zone: string): (ms: number) => Day {
  const iso = new Intl.DateTimeFormat("sv-SE", { timeZone: zone });
  const weekday = new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "long" });
  return (ms) => ({ iso: iso.format(ms), weekday: weekday.format(ms) });
}

/** Every day of a zone around 2026 and 2027, found by stepping through the hours. */
function allDays(said: (ms: number) => Day): readonly Day[] {
  const days = new Map<string, Day>();
  for (let at = Date.UTC(2025, 10, 1); at < Date.UTC(2027, 5, 1); at += 6 * hourMs) {
    const day = said(at);
    days.set(day.iso, day);
  }
  return [...days.values()];
}

function oracle(days: readonly Day[], today: string): Readonly<Record<string, readonly string[]>> {
  const at = days.findIndex((day) => day.iso === today);
  const iso = (index: number): string => days[index]?.iso ?? "";
  let monday = at;
  while (days[monday]?.weekday !== "Monday") monday -= 1;
  const saturday = days.findIndex((day, index) => index >= monday && day.weekday === "Saturday");
  const month = (of: string): readonly string[] => {
    const within = days.filter((day) => day.iso.startsWith(of));
    return [within[0]?.iso ?? "", within.at(-1)?.iso ?? ""];
  };
  const thisMonth = iso(at).slice(0, 7);
  const nextMonth = days.find((day) => day.iso.slice(0, 7) > thisMonth)?.iso.slice(0, 7) ?? "";
  return {
    today: [iso(at), iso(at)],
    tomorrow: [iso(at + 1), iso(at + 1)],
    "this weekend": [iso(saturday), iso(saturday + 1)],
    "next weekend": [iso(saturday + 7), iso(saturday + 8)],
    "this week": [iso(monday), iso(monday + 6)],
    "next week": [iso(monday + 7), iso(monday + 13)],
    "this month": month(thisMonth),
    "next month": month(nextMonth),
    "next 7 days": [iso(at), iso(at + 6)],
  };
}

describe("date ranges", () => {
  it.each(zones)("A34: 400 days in %s are as a calendar on the wall has them", (zone) => {
    const said = wallCalendar(zone);
    const days = allDays(said);
    for (let day = 0; day < 400; day += 1) {
      // An odd step visits every hour of the day, changes of the clock included.
      const nowMs =
        Date.UTC(2026, 0, 1) + day * 24 * hourMs + ((day * 5) % 24) * hourMs + 1_801_000;
      const got = Object.fromEntries(
        dateRanges(nowMs, zone).map(({ name, from, to }) => [name, [from, to]]),
      );
      expect(got, `${new Date(nowMs).toISOString()} ${zone}`).toEqual(
        oracle(days, said(nowMs).iso),
      );
    }
  });

  it("A34: tomorrow at 00:30 is counted in the asker's zone", () => {
    const nowMs = Date.parse("2021-06-04T00:30:00+02:00");
    const berlin = dateRanges(nowMs, "Europe/Berlin");
    expect(berlin[1]).toEqual({ name: "tomorrow", from: "2021-06-05", to: "2021-06-05" });
    expect(dateRanges(nowMs, "UTC")[1]?.from).toBe("2021-06-04");
  });

  it("on a Sunday this weekend is the one that ends, and next week begins tomorrow", () => {
    const ranges = dateRanges(Date.parse("2026-12-06T20:00:00Z"), "UTC");
    expect(ranges).toContainEqual({ name: "this weekend", from: "2026-12-05", to: "2026-12-06" });
    expect(ranges).toContainEqual({ name: "next week", from: "2026-12-07", to: "2026-12-13" });
  });
});

describe("current_date", () => {
  it("A37: says day, weekday, clock, zone and offset, anew at every call", async () => {
    const zone = "America/New_York";
    const before = Date.parse("2026-11-30T23:59:00-05:00");
    const first = await currentDate.run({}, { nowMs: before, zone, signal });
    const second = await currentDate.run({}, { nowMs: before + 60_000, zone, signal });
    expect(first).toMatchObject({ ok: true, untrusted: false });
    expect(first.ok && first.text.split("\n")[0]).toBe(
      "today: 2026-11-30 (Monday), 23:59 in America/New_York (UTC-05:00)",
    );
    expect(second.ok && second.text.split("\n")[0]).toContain("2026-12-01 (Tuesday), 00:00");
    expect(second.ok && second.text).toContain("this weekend: 2026-12-05 to 2026-12-06");
  });

  it("says what the words of the question mean, and then no other range", async () => {
    const context = { nowMs: Date.parse("2026-12-02T12:00:00Z"), zone: "UTC", signal };
    const asked = async (question: string): Promise<string> => {
      const result = await currentDate.run({}, { ...context, question });
      return result.ok ? result.text : result.reason;
    };
    const today = "today: 2026-12-02 (Wednesday), 12:00 in UTC (UTC+00:00)";
    expect(await asked("what is on this weekend?")).toBe(
      `${today}\nthe days asked about: 2026-12-05 (Saturday) to 2026-12-06 (Sunday)`,
    );
    expect(await asked("and on Friday?")).toBe(
      `${today}\nthe days asked about: 2026-12-04 (Friday)`,
    );
    expect(await asked("when do I see the dentist?")).toContain("next 7 days: 2026-12-02 to");
  });

  it("an unknown zone is a failure that names what is expected", async () => {
    const failed = await currentDate.run({}, { nowMs: 0, zone: "Mars/Olympus", signal });
    expect(failed).toMatchObject({ ok: false });
    expect(!failed.ok && failed.reason).toContain("Europe/Berlin");
  });
});

describe("wall clocks", () => {
  it.each(zones)("an instant comes back from its wall clock in %s", (zone) => {
    for (let hour = 0; hour < 400 * 24; hour += 7) {
      const instantMs = Date.UTC(2026, 0, 1) + hour * hourMs;
      const back = instantOf(wallTimeAt(instantMs, zone), zone);
      // The hour that comes twice is its first.
      const shown = wallTimeAt(instantMs, zone);
      expect(wallTimeAt(back, zone)).toEqual(shown);
      expect(back).toBeLessThanOrEqual(instantMs);
    }
  });

  it("A34: a time that the clock change skips is read with the offset before it", () => {
    const day = parseDay("2022-03-13") ?? Number.NaN;
    const at = instantOf({ day, dayMs: 2.5 * hourMs }, "America/New_York");
    expect(new Date(at).toISOString()).toBe("2022-03-13T07:30:00.000Z");
  });

  it.each(["2026-02-31", "2026-13-01", "26-01-01", "2026-1-1", "", "today"])(
    "%j is no day",
    (text) => {
      expect(parseDay(text)).toBeUndefined();
    },
  );
});
