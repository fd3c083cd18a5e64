/**
 * Which days a question speaks of, by rule, so that a brain copies dates and never computes them. Only
 * words that say when count: without one, a question speaks of no days.
 *
 * English only. Pure: the ranges of the moment are given. Spec: docs/sources.md "Dates".
 */
import type { DateRange } from "./date-ranges.ts";

/** Days from one to another, both included, as YYYY-MM-DD. */
export type Days = Pick<DateRange, "from" | "to">;

const dayMs = 86_400_000;
const months = [
  "january february march april may june july august september october november december",
  "jan feb mar apr may jun jul aug sep oct nov dec",
].map((names) => names.split(" "));
/** Days that have a name and the same date every year. The longer name stands first. */
const feasts: readonly (readonly [name: string, monthAndDay: string])[] = [
  ["christmas eve", "12-24"],
  ["boxing day", "12-26"],
  ["christmas", "12-25"],
  ["new year s eve", "12-31"],
  ["new year", "01-01"],
  ["valentine s day", "02-14"],
  ["halloween", "10-31"],
];
const numbers = "zero one two three four five six seven eight nine ten".split(" ");
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const isoDay = /\b\d{4}-\d{2}-\d{2}\b/g;

/** The days that a question speaks of, by figures or by words; `ranges` are those of the moment. */
export function daysOf(question: string, ranges: readonly DateRange[]): Days | undefined {
  return daysInFigures(question) ?? daysInWords(question, ranges);
}

/** The days that a question has as YYYY-MM-DD: for these, nobody has to know which day it is. */
export function daysInFigures(question: string): Days | undefined {
  const [from, ...others] = (question.match(isoDay) ?? []).toSorted();
  return from === undefined ? undefined : { from, to: others.at(-1) ?? from };
}

function daysInWords(question: string, ranges: readonly DateRange[]): Days | undefined {
  const byName = new Map<string, Days>(ranges.map(({ name, from, to }) => [name, { from, to }]));
  const today = byName.get("today")?.from;
  if (today === undefined) return undefined;
  const text = ` ${question.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  return (
    relativeDay(text, today) ??
    namedDay(text, today) ??
    namedRange(text, byName) ??
    daysAhead(text, today) ??
    weekdaysIn(text, today) ??
    dayOfMonth(text, today) ??
    monthIn(text, today)
  );
}

/** Words of a question that only say when, so that they are not searched for. */
export function isDateWord(word: string): boolean {
  return dateWords.has(word) || weekdays.includes(word) || /^\d{4}-\d{2}-\d{2}$/.test(word);
}

const dateWords: ReadonlySet<string> = new Set(
  "today tonight tomorrow yesterday week weekend month day days next this".split(" "),
);

function relativeDay(text: string, today: string): Days | undefined {
  if (text.includes(" day after tomorrow ")) return single(today, 2);
  if (text.includes(" day before yesterday ")) return single(today, -2);
  if (text.includes(" yesterday ")) return single(today, -1);
  return / tonight | this (?:morning|afternoon|evening) /.test(text) ? single(today, 0) : undefined;
}

function namedRange(text: string, ranges: ReadonlyMap<string, Days>): Days | undefined {
  const names = [...ranges.keys()].toSorted((a, b) => b.length - a.length);
  const named = names.find((name) => text.includes(` ${name} `));
  if (named !== undefined) return ranges.get(named);
  // "the weekend" without this or next is the nearest one.
  const bare = ["weekend", "week", "month"].find((name) => text.includes(` ${name} `));
  return bare === undefined ? undefined : ranges.get(`this ${bare}`);
}

/** A feast, or a month with a day: its next occurrence, today included. */
function namedDay(text: string, today: string): Days | undefined {
  const feast = feasts.find(([name]) => text.includes(` ${name} `))?.[1];
  if (feast !== undefined) return nextOf(feast, today);
  const names = months.map((list) => list.join("|")).join("|");
  const found =
    new RegExp(` (?<month>${names}) (?:the )?(?<day>\\d{1,2})(?:st|nd|rd|th)? `).exec(text) ??
    new RegExp(` (?<day>\\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<month>${names}) `).exec(text);
  const { month = "", day = "" } = found?.groups ?? {};
  const number = monthNumber(month);
  return number === undefined ? undefined : nextOf(`${number}-${day.padStart(2, "0")}`, today);
}

/** A month by itself: the whole of it, the one that is on or comes next. */
function monthIn(text: string, today: string): Days | undefined {
  // "may" and "mar" are more often something else.
  const name = months[0]?.find((one) => one !== "may" && text.includes(` ${one} `));
  const number = monthNumber(name ?? (text.includes(" in may ") ? "may" : ""));
  if (number === undefined) return undefined;
  const year = Number(today.slice(0, 4)) + (number < today.slice(5, 7) ? 1 : 0);
  const last = new Date(Date.UTC(year, Number(number), 0)).toISOString().slice(0, 10);
  return { from: `${year}-${number}-01`, to: last };
}

function monthNumber(name: string): string | undefined {
  const at = Math.max(...months.map((list) => list.indexOf(name)));
  return at === -1 ? undefined : String(at + 1).padStart(2, "0");
}

/** The next day with that month and day; undefined when no year has it. */
function nextOf(monthAndDay: string, today: string): Days | undefined {
  const thisYear = Number(today.slice(0, 4));
  // A leap day is at most eight years away.
  const day = Array.from({ length: 9 }, (_, ahead) => `${thisYear + ahead}-${monthAndDay}`).find(
    (one) => one >= today && isDay(one),
  );
  return day === undefined ? undefined : { from: day, to: day };
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** "in three days", "in 2 weeks", and "the next ten days", which are all of them. */
function daysAhead(text: string, today: string): Days | undefined {
  const found = / (in|next|coming) (\w+) (day|week)s? /.exec(text);
  const [, how, amount = "", unit] = found ?? [];
  const number = /^\d{1,3}$/.test(amount)
    ? Number(amount)
    : amount === "a"
      ? 1
      : numbers.indexOf(amount);
  if (number < 1) return undefined;
  const days = number * (unit === "week" ? 7 : 1);
  if (how === "in") return single(today, days);
  return { from: today, to: single(today, days - 1).to };
}

/** Weekdays by name; of several, all days from the first that comes to the last. */
function weekdaysIn(text: string, today: string): Days | undefined {
  const days = weekdays.flatMap((name, index) => weekdayIn(text, today, { name, index }) ?? []);
  const [from, ...others] = days.toSorted();
  return from === undefined ? undefined : { from, to: others.at(-1) ?? from };
}

function weekdayIn(
  text: string,
  today: string,
  { name, index }: { readonly name: string; readonly index: number },
): string | undefined {
  const now = new Date(`${today}T00:00:00Z`).getUTCDay();
  // "Next Friday" is the one of the week after this; weeks begin on Monday.
  if (text.includes(` next ${name} `)) {
    return single(today, 7 - ((now + 6) % 7) + ((index + 6) % 7)).from;
  }
  return text.includes(` ${name} `) || text.includes(` ${name}s `)
    ? single(today, (index - now + 7) % 7).from
    : undefined;
}

function dayOfMonth(text: string, today: string): Days | undefined {
  const wanted = Number(/ (\d{1,2})(?:st|nd|rd|th) /.exec(text)?.[1] ?? "0");
  if (wanted < 1 || wanted > 31) return undefined;
  // At most two months ahead lies every day of the month that exists at all.
  for (let ahead = 0; ahead < 62; ahead += 1) {
    const day = single(today, ahead);
    if (Number(day.from.slice(8)) === wanted) return day;
  }
  return undefined;
}

function single(today: string, ahead: number): Days {
  const day = new Date(Date.parse(`${today}T00:00:00Z`) + ahead * dayMs).toISOString().slice(0, 10);
  return { from: day, to: day };
}
