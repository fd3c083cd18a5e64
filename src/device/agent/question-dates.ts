/**
 * Which days a question speaks of, by rule: its words are matched with the ranges that current_date
 * returned. It never computes what "today" is; without that result it knows only dates in figures.
 *
 * Spec: docs/agent.md "The basic brain".
 */

/** Days from one to another, both included, as YYYY-MM-DD. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const isoDay = /\b\d{4}-\d{2}-\d{2}\b/g;

/** The days of a question. `dateText` is the result of current_date, if it was called. */
export function daysOf(question: string, dateText: string | undefined): Days | undefined {
  return (
    daysInFigures(question) ??
    (dateText === undefined ? undefined : daysInWords(question, dateText))
  );
}

function daysInFigures(question: string): Days | undefined {
  const [from, to] = (question.match(isoDay) ?? []).toSorted();
  return from === undefined ? undefined : { from, to: to ?? from };
}

function daysInWords(question: string, dateText: string): Days | undefined {
  const ranges = rangesOf(dateText);
  const today = ranges.get("today")?.from;
  if (today === undefined) return undefined;
  const text = ` ${question.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  return (
    relativeDay(text, today) ??
    namedRange(text, ranges) ??
    weekdayIn(text, today) ??
    dayOfMonth(text, today) ??
    ranges.get("next 7 days")
  );
}

/** Words of a question that only say when, so that they are not searched for. */
export function isDateWord(word: string): boolean {
  return dateWords.has(word) || weekdays.includes(word) || /^\d{4}-\d{2}-\d{2}$/.test(word);
}

const dateWords: ReadonlySet<string> = new Set(
  "today tonight tomorrow yesterday week weekend month day days next this".split(" "),
);

/** The ranges that a result of current_date lists, by name. */
function rangesOf(dateText: string): Map<string, Days> {
  const ranges = new Map<string, Days>();
  for (const line of dateText.split("\n")) {
    const found = /^([^:]+): (\d{4}-\d{2}-\d{2})(?: to (\d{4}-\d{2}-\d{2}))?/.exec(line);
    const [, name, from, to = from] = found ?? [];
    if (name !== undefined && from !== undefined && to !== undefined)
      ranges.set(name.trim().toLowerCase(), { from, to });
  }
  return ranges;
}

function relativeDay(text: string, today: string): Days | undefined {
  if (text.includes(" day after tomorrow ")) return single(today, 2);
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

function weekdayIn(text: string, today: string): Days | undefined {
  const index = weekdays.findIndex(
    (name) => text.includes(` ${name} `) || text.includes(` ${name}s `),
  );
  if (index === -1) return undefined;
  const now = new Date(`${today}T00:00:00Z`).getUTCDay();
  return single(today, (index - now + 7) % 7);
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
