/** The days that a question speaks of, read from its words. */
import { expect, it } from "vitest";

import { dateRanges } from "../../../src/device/tools/date-ranges.ts";
import { daysInFigures, daysOf } from "../../../src/device/tools/question-dates.ts";

const zone = "Europe/Berlin";
/** A Wednesday. */
const nowMs = Date.parse("2026-12-02T12:00:00+01:00");

const cases: readonly (readonly [question: string, from: string, to: string])[] = [
  ["what is on today", "2026-12-02", "2026-12-02"],
  ["tonight?", "2026-12-02", "2026-12-02"],
  ["and this evening", "2026-12-02", "2026-12-02"],
  ["anything tomorrow?", "2026-12-03", "2026-12-03"],
  ["the day after tomorrow", "2026-12-04", "2026-12-04"],
  ["what was yesterday", "2026-12-01", "2026-12-01"],
  ["this weekend", "2026-12-05", "2026-12-06"],
  ["over the weekend", "2026-12-05", "2026-12-06"],
  ["NEXT weekend!", "2026-12-12", "2026-12-13"],
  ["next week", "2026-12-07", "2026-12-13"],
  ["next month", "2027-01-01", "2027-01-31"],
  ["am I free on Friday", "2026-12-04", "2026-12-04"],
  ["on Wednesdays", "2026-12-02", "2026-12-02"],
  ["Tuesday morning", "2026-12-08", "2026-12-08"],
  ["double booked on the 14th", "2026-12-14", "2026-12-14"],
  ["on the 1st", "2027-01-01", "2027-01-01"],
  ["on the 31st", "2026-12-31", "2026-12-31"],
  ["on December 11", "2026-12-11", "2026-12-11"],
  ["the 3rd of January?", "2027-01-03", "2027-01-03"],
  ["on 1 Dec", "2027-12-01", "2027-12-01"],
  ["am I away on 30 February", "2027-02-01", "2027-02-28"],
  ["in March", "2027-03-01", "2027-03-31"],
  ["how full is December", "2026-12-01", "2026-12-31"],
  ["on Christmas Eve", "2026-12-24", "2026-12-24"],
  ["over New Year's", "2027-01-01", "2027-01-01"],
  ["next Friday", "2026-12-11", "2026-12-11"],
  ["next Sunday", "2026-12-13", "2026-12-13"],
  ["in three days", "2026-12-05", "2026-12-05"],
  ["in 2 weeks", "2026-12-16", "2026-12-16"],
  ["the next ten days", "2026-12-02", "2026-12-11"],
  ["the day before yesterday", "2026-11-30", "2026-11-30"],
  ["from 2026-12-24 to 2026-12-26", "2026-12-24", "2026-12-26"],
  ["2026-12-26 back to 2026-12-24", "2026-12-24", "2026-12-26"],
  ["between Friday and Tuesday", "2026-12-04", "2026-12-08"],
];
it.each(cases)("%s", (question, from, to) => {
  expect(daysOf(question, dateRanges(nowMs, zone))).toEqual({ from, to });
});

it.each(["when do I see the dentist", "may I go out", "how long is a day"])(
  "%s: speaks of no days",
  (question) => {
    expect(daysOf(question, dateRanges(nowMs, zone))).toBeUndefined();
  },
);

it("knows without the date what is in figures alone", () => {
  expect(daysInFigures("this weekend")).toBeUndefined();
  expect(daysInFigures("on 2026-12-24")).toEqual({ from: "2026-12-24", to: "2026-12-24" });
});

it("A34: on a Saturday night, this weekend is the one that is on, in the asker's zone", () => {
  const saturday = dateRanges(Date.UTC(2026, 11, 5, 23, 30), zone);
  expect(daysOf("this weekend", saturday)).toEqual({ from: "2026-12-05", to: "2026-12-06" });
  expect(daysOf("today", saturday)).toEqual({ from: "2026-12-06", to: "2026-12-06" });
});
