import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  alignMentions,
  mentionSpans,
  nearMisses,
  nearMissText,
  parseMentions,
  rewriteMentions,
  sameProse,
} from "../../../src/device/skills/mentions.ts";
import { slowMentions, slowRewrite } from "../../reference/slow-mentions.ts";
import { proseArbitrary } from "./sample.ts";

const accepted: readonly (readonly [text: string, slugs: readonly string[]])[] = [
  ["FIRST use @current-date, then @calendar.", ["current-date", "calendar"]],
  ["@a then @b then @A again", ["a", "b"]],
  ["@Search-Info", ["search-info"]],
  ["(@calendar)", ["calendar"]],
  ["感謝@calendar", ["calendar"]],
  ["@calendarで見る", ["calendar"]],
  ["@calendar-", ["calendar"]],
  ["@calendar--.", ["calendar"]],
  ["@a--b", ["a--b"]],
  ["@7zip", ["7zip"]],
  ["`@calendar` and ```\n@find-file\n```", ["calendar", "find-file"]],
  ["one@two @three", ["three"]],
  ["see:@calendar,@find-file", ["calendar", "find-file"]],
  ["😀@calendar😀", ["calendar"]],
  ["“@calendar”", ["calendar"]],
  ["한글@calendar한글", ["calendar"]],
  ["\\ @calendar", ["calendar"]],
  ["ab\u2028@calendar\u00a0x", ["calendar"]],
  ["@constructor @__proto__", ["constructor"]],
];

const refused: readonly string[] = [
  "bob@calendar.com",
  "josé@calendar.com",
  "jose\u0301@calendar",
  "pkg/x@v7",
  "https://medium.com/@find-file",
  "@find-file/@grep-memory".slice(10),
  "x_@calendar",
  "x.@calendar",
  "x-@calendar",
  "@@calendar",
  "ж@calendar",
  "ω@calendar",
  "ա@calendar",
  "\\@calendar",
  "\\\\@calendar",
  "@calendar_x",
  "@calendar-_",
  "@cаlendar",
  "@calendaré",
  "@calendar\u0301",
  "@calendarж",
  "@calendarω",
  "@calendarա",
  "@calendar\u200d",
  "@calendar\u200b",
  "@calendar\u00ad",
  "@calendar\ufe0f",
  "@calendar\u{e0061}",
  "@calendar\u2010x",
  "@calendar\u2011x",
  "@calendar\u212a",
  "@calendarＡ",
  "@calendar１",
  "@calendar²",
  "@calendar½",
  "@calendar𝐀",
  "@calendarⒶ",
  "@calendar\u{1f1ea}\ufe0f".replace("\u{1f1ea}", "①"),
  "@-calendar",
  "@",
  "@ calendar",
  "＠calendar",
];

describe("mentions", () => {
  it.each(accepted)("reads %j", (text, slugs) => {
    expect(parseMentions(text)).toEqual(slugs);
  });

  it.each(refused)("finds no mention in %j", (text) => {
    expect(parseMentions(text)).toEqual([]);
  });

  it("A18: a CJK letter before the sign binds, a URL path does not", () => {
    expect(parseMentions("感謝@abc")).toEqual(["abc"]);
    expect(parseMentions("https://medium.com/@x")).toEqual([]);
  });

  it("A15: an address and 250 letters are no mention and no crash", () => {
    expect(parseMentions(`me@example.com${"a".repeat(250)}`)).toEqual([]);
    expect(parseMentions(`@${"a".repeat(250)}`)).toEqual(["a".repeat(250)]);
  });

  it("A17: an escaped mention does not count", () => {
    expect(parseMentions("write \\@calendar, or @calendar")).toEqual(["calendar"]);
    expect(mentionSpans("write \\@calendar, or @calendar")).toHaveLength(1);
  });

  it("A19: code binds like any text, an address binds nowhere", () => {
    expect(parseMentions("```\n@calendar me@me.com\n```")).toEqual(["calendar"]);
  });

  it("says where a mention stands, without its trailing hyphens", () => {
    expect(mentionSpans("😀 @Plan-- x")).toEqual([{ slug: "plan", start: 3, end: 8 }]);
  });

  it("equals the slow reading", () => {
    fc.assert(
      fc.property(proseArbitrary, (text) => {
        expect(mentionSpans(text)).toEqual(slowMentions(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it("equals the slow reading for every code point before and after", () => {
    const different: string[] = [];
    for (let point = 0; point < 0x30000; point++) {
      const character = String.fromCodePoint(point);
      const text = `${character}@a @b${character}`;
      const starts = mentionSpans(text).map((mention) => mention.start);
      const slow = slowMentions(text).map((mention) => mention.start);
      if (starts.join() !== slow.join()) different.push(point.toString(16));
    }
    expect(different).toEqual([]);
  });
});

const isHolder = (slug: string): boolean => ["find-file", "grep-memory"].includes(slug);

describe("near misses", () => {
  it("lists what names a holder and does not count, with the reason", () => {
    const [miss, ...others] = nearMisses("@find-file/@grep-memory", isHolder);
    expect(others).toEqual([]);
    expect(miss).toEqual({
      slug: "grep-memory",
      start: 11,
      end: 23,
      refusal: "before",
      character: "/",
    });
    expect(miss && nearMissText(miss)).toBe(
      "@grep-memory does not count here, because “/” stands directly before it.",
    );
  });

  it("A14: names the invisible character that spoils a mention", () => {
    const [miss] = nearMisses("use @find-file\u200b now", isHolder);
    expect(miss?.refusal).toBe("after");
    expect(miss && nearMissText(miss)).toContain("U+200B");
  });

  it("tells an escape from a mistake and keeps silent about strangers", () => {
    expect(nearMisses("\\@find-file x@other", isHolder).map((miss) => miss.refusal)).toEqual([
      "escaped",
    ]);
  });

  it("never lists what counts: every holder's slug is a mention or a near miss", () => {
    fc.assert(
      fc.property(proseArbitrary, (text) => {
        const starts = [
          ...mentionSpans(text).map((mention) => mention.start),
          ...nearMisses(text, () => true).map((miss) => miss.start),
        ].toSorted((a, b) => a - b);
        expect(starts).toEqual([...text.matchAll(/@(?=[A-Za-z0-9])/g)].map((match) => match.index));
      }),
    );
  });
});

describe("rewriting", () => {
  const slugArbitrary: fc.Arbitrary<string> = fc.constantFrom(
    "a",
    "b-c",
    "plan",
    "plan-trip",
    "x",
    "calendar",
    "zz",
  );
  const mapArbitrary = fc
    .uniqueArray(slugArbitrary, { maxLength: 5 })
    .chain((from) =>
      fc.tuple(fc.constant(from), fc.shuffledSubarray(from, { minLength: from.length })),
    )
    .map(([from, to]) => new Map(from.map((slug, index) => [slug, to[index] ?? slug])));

  it("swaps two names at once", () => {
    const swap = new Map([
      ["a", "b"],
      ["b", "a"],
    ]);
    expect(rewriteMentions("@a @b @A", swap)).toBe("@b @a @b");
  });

  it("replaces whole slugs only, whatever their case", () => {
    const map = new Map([["plan", "trip"]]);
    expect(rewriteMentions("@Plan, @plan-trip, x@plan, \\@plan, @plan-.", map)).toBe(
      "@trip, @plan-trip, x@plan, \\@plan, @trip-.",
    );
  });

  it("keeps the bytes of a mention that keeps its name", () => {
    expect(rewriteMentions("@Plan", new Map([["plan", "plan"]]))).toBe("@Plan");
  });

  it("equals the slow rewriting", () => {
    fc.assert(
      fc.property(proseArbitrary, mapArbitrary, (text, map) => {
        expect(rewriteMentions(text, map)).toBe(slowRewrite(text, map));
      }),
    );
  });

  it("round trip: maps every mention, moves none, and the inverse map restores the meaning", () => {
    fc.assert(
      fc.property(proseArbitrary, mapArbitrary, (text, map) => {
        const there = rewriteMentions(text, map);
        expect(mentionSpans(there).map((mention) => mention.slug)).toEqual(
          mentionSpans(text).map(({ slug }) => map.get(slug) ?? slug),
        );
        const inverse = new Map([...map].map(([from, to]) => [to, from]));
        expect(sameProse(rewriteMentions(there, inverse), text)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("aligns two texts that differ only in what they mention", () => {
    expect(alignMentions("use @a, @B.", "use @x, @y.")).toEqual([
      ["a", "x"],
      ["b", "y"],
    ]);
    expect(alignMentions("use @a", "Use @a")).toBeUndefined();
    expect(alignMentions("@a @b", "@a")).toBeUndefined();
    expect(sameProse("@Plan it", "@plan it")).toBe(true);
    expect(sameProse("@plan It", "@plan it")).toBe(false);
  });
});
