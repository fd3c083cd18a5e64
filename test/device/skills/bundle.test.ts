import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bundleHash,
  cardOf,
  decodeBundle,
  depthFirstItems,
  encodeBundle,
  itemsOf,
  type Bundle,
} from "../../../src/device/skills/bundle.ts";
import type { SkillItem } from "../../../src/device/skills/skill.ts";
import { members, parseStrictJson } from "../../../src/device/skills/strict-json.ts";
import { bundle, item } from "./sample.ts";

const good = bundle(item("a", "@b then @c"), item("b", "@a"), item("c"));
const wire = (value: unknown): string => JSON.stringify({ pixie_skill_share: value });
const decodes = (text: string): boolean => decodeBundle(text).ok;

/** A bundle of one item with some fields replaced, as text. */
function withRoot(change: Readonly<Record<string, unknown>>): string {
  return wire({ skill: { ...item("a"), ...change }, closure: [] });
}

/** A root that mentions so many items. */
function many(count: number): Bundle {
  const ids = Array.from({ length: count }, (_, index) => `i${index}`);
  return bundle(item("root", ids.map((id) => `@${id}`).join(" ")), ...ids.map((id) => item(id)));
}

const malformed: readonly (readonly [what: string, text: string])[] = [
  ["nothing", ""],
  ["not JSON", "{"],
  ["another type", "[]"],
  ["null", "null"],
  ["no item", wire({})],
  ["a null inside", wire(null)],
  ["an array inside", wire([])],
  ["no closure", wire({ skill: item("a") })],
  ["a null closure", wire({ skill: item("a"), closure: null })],
  ["an object as closure", wire({ skill: item("a"), closure: {} })],
  ["an extra outer key", JSON.stringify({ pixie_skill_share: good, x: 1 })],
  ["an extra inner key", wire({ ...good, v: 1 })],
  ["an extra item key", withRoot({ enabled: true })],
  [
    "a key named __proto__",
    `{"pixie_skill_share":{"skill":{"__proto__":"x","id":"a","name":"A","shortDescription":"s"},"closure":[]}}`,
  ],
  ["a missing field", wire({ skill: { id: "a", name: "A", detailedBody: "x" }, closure: [] })],
  ["a number", withRoot({ name: 7 })],
  ["a null field", withRoot({ detailedBody: null })],
  ["an upper-case id", withRoot({ id: "A" })],
  ["an id with a space", withRoot({ id: "a b" })],
  ["an id that starts with a hyphen", withRoot({ id: "-a" })],
  ["an id of 65 characters", withRoot({ id: "x".repeat(65) })],
  ["a Cyrillic id (A11)", withRoot({ id: "re\u0430ct" })],
  ["an id with a newline", withRoot({ id: "a\n" })],
  ["a blank name", withRoot({ name: " \u00a0\u3000" })],
  ["an empty summary", withRoot({ shortDescription: "" })],
  ["a blank body", withRoot({ detailedBody: "\n\t " })],
  ["a name of 81 code points", withRoot({ name: "😀".repeat(81) })],
  ["a summary of 601 code points", withRoot({ shortDescription: "x".repeat(601) })],
  ["a body of 8,193 bytes", withRoot({ detailedBody: `${"é".repeat(4_096)}x` })],
  ...[
    "\n",
    "\r",
    "\v",
    "\f",
    "\u0085",
    "\u2028",
    "\u2029",
    "\u001b",
    "\u007f",
    "\u0000",
    "\t",
  ].flatMap((character) => [
    [
      `U+${character.charCodeAt(0).toString(16)} in a name`,
      withRoot({ name: `a${character}b` }),
    ] as const,
    [
      `U+${character.charCodeAt(0).toString(16)} in a summary`,
      withRoot({ shortDescription: `a${character}b` }),
    ] as const,
  ]),
  ...["\u0000", "\u0007", "\v", "\f", "\u001b", "\u007f", "\u0085", "\u009b"].map(
    (character) =>
      [
        `U+${character.charCodeAt(0).toString(16)} in a body`,
        withRoot({ detailedBody: `a${character}b` }),
      ] as const,
  ),
  ["a lone surrogate in a name", withRoot({ name: "a\ud800" })],
  ["a lone surrogate in a body", withRoot({ detailedBody: "\udc00b" })],
  ["a repeated id", wire({ skill: item("a", "@b"), closure: [item("b"), item("b")] })],
  ["the root again", wire({ skill: item("a", "@a"), closure: [item("a")] })],
  ["an unreachable item", wire({ skill: item("a", "@b"), closure: [item("b"), item("c")] })],
  ["an item that only reaches itself", wire({ skill: item("a"), closure: [item("b", "@b")] })],
  [
    "an unreachable id that ends in a hyphen",
    wire({ skill: item("a", "@b-"), closure: [item("b-")] }),
  ],
  ["a byte order mark", `\ufeff${wire(good)}`],
  ["text after the object", `${wire(good)} x`],
  ["two equal keys", '{"pixie_skill_share":1,"pixie_skill_share":{}}'],
  ["a repeated field", wire(bundle(item("a"))).replace('"id":"a"', '"id":"a","id":"a"')],
  [
    "a repeated field in another spelling",
    wire(bundle(item("a"))).replace('"id":"a"', '"id":"a","\\u0069d":"a"'),
  ],
];

describe("the wire format", () => {
  it("is one object with a fixed key order and exactly four fields an item", () => {
    expect(encodeBundle(bundle(item("search-info", "@x"), item("x")))).toBe(
      '{"pixie_skill_share":{"skill":{"id":"search-info","name":"Search Info","shortDescription":"About search info.","detailedBody":"@x"},' +
        '"closure":[{"id":"x","name":"X","shortDescription":"About x.","detailedBody":"Do x."}]}}',
    );
    const local = { ...item("a"), enabled: false, advertised: true, nameIsSet: true };
    expect(encodeBundle(bundle(local))).not.toMatch(/enabled|advertised|nameIsSet/);
  });

  it("reads what it writes, the closure depth first", () => {
    const shuffled = bundle(good.skill, ...good.closure.toReversed());
    expect(decodeBundle(encodeBundle(shuffled))).toEqual({ ok: true, value: good });
    expect(bundleHash(shuffled)).toBe(bundleHash(good));
  });

  it("keeps any closure order, key order, white space and escapes", () => {
    const { skill, closure } = good;
    const reordered = JSON.stringify(
      {
        pixie_skill_share: {
          closure: closure.toReversed().map(reversedKeys),
          skill: reversedKeys(skill),
        },
      },
      undefined,
      "\t",
    ).replaceAll("pixie_skill_share", "pixie_skill\\u005fshare");
    expect(decodeBundle(`\r\n ${reordered}\n`)).toEqual({
      ok: true,
      value: { skill, closure: closure.toReversed() },
    });
  });

  it.each(malformed)("refuses %s", (_, text) => {
    expect(decodes(text)).toBe(false);
  });

  it.each([
    ["id", "a--b"],
    ["id", "a-"],
    ["id", "x".repeat(64)],
    ["id", "calendar"],
    ["name", "😀".repeat(80)],
    ["name", "\u202ename"],
    ["shortDescription", "😀".repeat(600)],
    ["detailedBody", "é".repeat(4_096)],
    ["detailedBody", "a\tb\r\nc\u2028d\u200be"],
    ["detailedBody", 'quotes " { } \\ "id": "id":'],
  ])("accepts %s %j", (field, text) => {
    expect(decodes(withRoot({ [field]: text }))).toBe(true);
  });

  it("bounds items and the whole message", () => {
    expect(decodes(wire(many(31)))).toBe(true);
    expect(decodes(wire(many(32)))).toBe(false);
    const full = many(31);
    const stuffed = bundle(
      full.skill,
      ...full.closure.map((other) => ({ ...other, detailedBody: "x".repeat(8_192) })),
    );
    expect(decodes(wire(stuffed))).toBe(true);
    const wide = bundle(
      stuffed.skill,
      ...stuffed.closure.map((other) => ({ ...other, shortDescription: "😀".repeat(600) })),
    );
    expect(decodes(wire(wide))).toBe(false);
    const padding = 261_815 - wire(good).length;
    expect(decodes(wire(good) + " ".repeat(padding))).toBe(true);
    expect(decodes(wire(good) + " ".repeat(padding + 1))).toBe(false);
  });
});

function reversedKeys(value: SkillItem): object {
  return Object.fromEntries(Object.entries(value).toReversed());
}

const text = (max: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: max })
    .filter((value) => /\S/.test(value) && !/[\p{Cc}\u2028\u2029\p{Cs}]/u.test(value));

/** Any bundle that may travel: a tree over distinct ids, with extra mentions anywhere. */
const bundleArbitrary: fc.Arbitrary<Bundle> = fc
  .tuple(
    fc.uniqueArray(
      fc
        .string({ unit: fc.constantFrom("a", "b", "0", "-"), minLength: 1, maxLength: 6 })
        .filter((id) => /^[a-z0-9][a-z0-9-]*$/.test(id) && !id.endsWith("-")),
      { minLength: 1, maxLength: 6 },
    ),
    fc.array(fc.tuple(text(12), text(20), text(40), fc.nat(), fc.constantFrom("", "@zz", "@a")), {
      minLength: 6,
      maxLength: 6,
    }),
  )
  .map(([ids, parts]) => {
    const children = ids.map((_, index) =>
      ids.filter((__, child) => child > 0 && (parts[child]?.[3] ?? 0) % child === index),
    );
    const items = ids.map((id, index) => ({
      id,
      name: parts[index]?.[0] ?? "n",
      shortDescription: parts[index]?.[1] ?? "s",
      detailedBody: `${parts[index]?.[2]} ${parts[index]?.[4]} ${(children[index] ?? []).map((child) => `@${child}`).join(" ")}`,
    }));
    return bundle(items[0]!, ...items.slice(1));
  });

describe("the wire format, for any bundle", () => {
  it("round trips", () => {
    fc.assert(
      fc.property(bundleArbitrary, (any) => {
        const [skill, ...closure] = depthFirstItems(any);
        expect(closure).toHaveLength(any.closure.length);
        expect(decodeBundle(encodeBundle(any))).toEqual({ ok: true, value: { skill, closure } });
      }),
      { numRuns: 500 },
    );
  });

  it("accepts exactly what it can write, up to key order, white space and escapes", () => {
    const mutation = fc.tuple(
      fc.nat(),
      fc.constantFrom("", '"', "{", "}", ",", ":", "x", "\\", "-", "\u0000", "1"),
    );
    fc.assert(
      fc.property(bundleArbitrary, fc.array(mutation, { maxLength: 2 }), (any, mutations) => {
        let mutated = encodeBundle(any);
        for (const [at, insert] of mutations) {
          const index = at % mutated.length;
          mutated = mutated.slice(0, index) + insert + mutated.slice(index + 1);
        }
        const decoded = decodeBundle(mutated);
        if (!decoded.ok) return;
        const again = decodeBundle(encodeBundle(decoded.value));
        expect(again.ok && new Set(itemsOf(again.value))).toEqual(new Set(itemsOf(decoded.value)));
      }),
      { numRuns: 3_000 },
    );
  });

  it("never throws, whatever arrives", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (any) => {
        expect(decodes(any)).toBe(false);
        expect(decodes(wire(any))).toBe(false);
        expect(decodes(`{"pixie_skill_share":${any}}`)).toBe(false);
      }),
    );
    const deep = "[".repeat(200_000);
    expect(decodes(deep)).toBe(false);
    expect(decodes(`{"pixie_skill_share":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toBe(
      false,
    );
    expect(decodes(`{"${"\\\\".repeat(100_000)}":1}`)).toBe(false);
  });

  it("finds a repeated key at any depth", () => {
    expect(parseStrictJson('{"a":{"b":[{"c":1,"c":2}]}}')).toMatchObject({
      error: { type: "duplicate-key" },
    });
    expect(parseStrictJson('{"a":{"a":1},"b":[{"a":1},{"a":":"}]}').ok).toBe(true);
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(parseStrictJson(json)).toEqual({ ok: true, value: JSON.parse(json) });
      }),
    );
    expect(members(JSON.parse('{"__proto__":1}'))?.get("__proto__")).toBe(1);
    expect(members([])).toBeUndefined();
    expect(members(null)).toBeUndefined();
  });
});

describe("the card", () => {
  it("counts the linked skills in words", () => {
    expect(cardOf(bundle(item("a")))).toEqual({
      name: "A",
      shortDescription: "About a.",
      linked: "",
    });
    expect(cardOf(bundle(item("a"), item("b"))).linked).toBe("+ 1 linked skill");
    expect(cardOf(good).linked).toBe("+ 2 linked skills");
  });
});
