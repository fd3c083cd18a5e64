import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deriveName,
  foldTitle,
  isUsableSlug,
  isWireId,
  mintSlug,
  sanitizeHandle,
  settleOnDemandNames,
} from "../../../src/device/skills/slug.ts";

const free = (): boolean => false;

describe("minting", () => {
  it.each([
    ["Meeting Prep", "meeting-prep"],
    ["  --Meeting __ Prep!! ", "meeting-prep"],
    ["Crème brûlée", "creme-brulee"],
    ["Straße ẞ", "strasse-ss"],
    ["Øre Æble Œuvre Łódź Đak ılık", "ore-aeble-oeuvre-lodz-dak-ilik"],
    ["İstanbul", "istanbul"],
    ["\u212aelvin", "kelvin"],
    ["ﬁle ① Ａ", "file-1-a"],
    ["a--b", "a-b"],
    ["constructor", "constructor"],
    ["会议", "skill"],
    ["!!!", "skill"],
    ["", "skill"],
    ["会议 7", "7"],
    ["reаct", "re-ct"],
  ])("mints %j as %j", (title, slug) => {
    expect(mintSlug(title, free)).toBe(slug);
  });

  it("A11: a Cyrillic letter never gets into a slug", () => {
    expect(isWireId("re\u0430ct")).toBe(false);
    expect(mintSlug("re\u0430ct", free)).toMatch(/^[a-z0-9-]+$/);
  });

  it("takes the first free suffix", () => {
    const taken = new Set(["meeting-prep", "meeting-prep-2"]);
    expect(mintSlug("Meeting Prep", (slug) => taken.has(slug))).toBe("meeting-prep-3");
    expect(mintSlug("会议", (slug) => slug === "skill")).toBe("skill-2");
  });

  it("trims the base so that 64 characters hold the suffix, too", () => {
    const long = "x".repeat(70);
    expect(mintSlug(long, free)).toBe("x".repeat(64));
    expect(mintSlug(long, (slug) => slug === "x".repeat(64))).toBe(`${"x".repeat(62)}-2`);
    const hyphen = `${"x".repeat(61)}-yyy`;
    expect(mintSlug(hyphen, (slug) => slug.length > 63)).toBe(`${"x".repeat(61)}-2`);
    expect(foldTitle(`${"x".repeat(63)} y`)).toBe("x".repeat(63));
  });

  const titles = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.string({ unit: fc.constantFrom("a", "b", "-", " ", "é", "ß", "会"), maxLength: 70 }),
  );

  it("is total: every title gets a usable slug", () => {
    fc.assert(fc.property(titles, (title) => isUsableSlug(mintSlug(title, free))));
  });

  it("is idempotent", () => {
    fc.assert(
      fc.property(titles, (title) => {
        const slug = mintSlug(title, free);
        expect(mintSlug(slug, free)).toBe(slug);
      }),
    );
  });

  it("is injective over a population", () => {
    fc.assert(
      fc.property(fc.array(titles, { maxLength: 60 }), (population) => {
        const taken = new Set<string>();
        for (const title of population) {
          const slug = mintSlug(title, (candidate) => taken.has(candidate));
          expect(taken.has(slug)).toBe(false);
          expect(isUsableSlug(slug)).toBe(true);
          taken.add(slug);
        }
      }),
    );
  });
});

describe("ids on the wire", () => {
  it.each(["a", "a--b", "a-", "7", "x".repeat(64), "constructor"])("%j is one", (id) => {
    expect(isWireId(id)).toBe(true);
  });
  it.each(["", "-a", "A", "a b", "a_b", "x".repeat(65), "a\n", "é", "\u212a"])(
    "%j is none",
    (id) => {
      expect(isWireId(id)).toBe(false);
    },
  );
  it("cannot be mentioned when it ends in a hyphen", () => {
    expect(isUsableSlug("a-")).toBe(false);
    expect(isUsableSlug("a--b")).toBe(true);
  });
});

describe("names and handles", () => {
  it("derives a name from a handle", () => {
    expect(deriveName("meeting-prep")).toBe("Meeting Prep");
    expect(deriveName("a--b-2")).toBe("A B 2");
  });

  it("sanitises a handle as it is typed: a space turns into one hyphen at once", () => {
    expect(sanitizeHandle("Meeting ")).toBe("meeting-");
    expect(sanitizeHandle("Meeting  Prep")).toBe("meeting-prep");
    expect(sanitizeHandle(" ")).toBe("");
    expect(sanitizeHandle("x".repeat(80))).toHaveLength(64);
  });

  it("gives the suffix to the on-demand tool, never to the holder", () => {
    const held = new Set(["calendar", "notes"]);
    const settled = settleOnDemandNames(["Calendar", "weather", "calendar", "notes"], (slug) =>
      held.has(slug),
    );
    expect([...settled]).toEqual([
      ["Calendar", "Calendar-2"],
      ["weather", "weather"],
      ["calendar", "calendar-3"],
      ["notes", "notes-2"],
    ]);
  });
});
