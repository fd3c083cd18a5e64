/** Byte strings, base64url, UTF-8 and ids: round trips, and what must be refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ByteReader,
  clampU64,
  concat,
  equalBytes,
  isWellFormed,
  label16,
  parseBase64Url,
  parseUtf8,
  toBase64Url,
  u16,
  u32,
  u64,
  u8,
  utf8,
} from "../../src/shared/bytes.ts";
import {
  bytesFromUuid,
  idFromText,
  idText,
  parseId,
  randomId,
  uuidFromBytes,
} from "../../src/shared/ids.ts";
import { randomFraction, systemRng } from "../../src/shared/rng.ts";
import { at, failureOf, valueOf } from "../support/people.ts";

const bytes = fc.uint8Array({ maxLength: 200 });

describe("integers and the reader", () => {
  it("reads back what was written, in order", () => {
    fc.assert(
      fc.property(
        fc.nat(0xff),
        fc.nat(0xffff),
        fc.nat(0xffffffff),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (a, b, c, d) => {
          const reader = new ByteReader(concat(u8(a), u16(b), u32(c), u64(d)));
          expect([reader.u8(), reader.u16(), reader.u32(), reader.u64()]).toEqual([a, b, c, d]);
          expect(reader.offset).toBe(15);
        },
      ),
    );
  });

  it("is big-endian", () => {
    expect(u16(0x0102)).toEqual(Uint8Array.of(1, 2));
    expect(u32(0x01020304)).toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(u64(0x0102030405060708n)).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  });

  it("throws rather than read past the end", () => {
    const reader = new ByteReader(new Uint8Array(3));
    expect(() => reader.u32()).toThrow(RangeError);
    expect(reader.offset).toBe(0);
  });

  it("copies what it takes", () => {
    const source = Uint8Array.of(1, 2, 3);
    const taken = new ByteReader(source).take(3);
    source.fill(9);
    expect(taken).toEqual(Uint8Array.of(1, 2, 3));
  });

  it("clamps a u64 to what a number holds exactly", () => {
    expect(clampU64(2n ** 64n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
    expect(clampU64(5n)).toBe(5);
  });

  it("pads labels with NUL to 16 bytes and refuses longer ones", () => {
    expect(label16("PX1 body")).toEqual(concat(utf8("PX1 body"), new Uint8Array(8)));
    expect(() => label16("seventeen letters")).toThrow(RangeError);
  });

  it("compares bytes by content and length", () => {
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0))).toBe(false);
  });
});

describe("base64url", () => {
  it("writes long byte strings, whatever pieces it makes them of", () => {
    for (const length of [6_143, 6_144, 6_145, 12_289, 262_144]) {
      const long = Uint8Array.from({ length }, (_, index) => (index * 167) & 255);
      expect(toBase64Url(long)).toBe(Buffer.from(long).toString("base64url"));
    }
  });

  it("round-trips and agrees with the platform", () => {
    fc.assert(
      fc.property(bytes, (input) => {
        const text = toBase64Url(input);
        expect(text).toBe(Buffer.from(input).toString("base64url"));
        expect(valueOf(parseBase64Url(text))).toEqual(Uint8Array.from(input));
      }),
    );
  });

  it("accepts a text only if it is the canonical one", () => {
    const alphabet = Array.from("ABYZabyz0189-_+/= é\u{1f600}");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }).map((chars) => chars.join("")),
        (text) => {
          const parsed = parseBase64Url(text);
          expect(parsed.ok ? toBase64Url(parsed.value) : text).toBe(text);
        },
      ),
    );
  });

  it.each(["A", "AB==", "AAAAA", "A+", "A/", "A A", "AB\n", "AR"])("refuses %j", (text) => {
    expect(failureOf(parseBase64Url(text))).toBe("base64url");
  });
});

describe("UTF-8", () => {
  it("round-trips every well-formed text, NUL and byte order mark included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(valueOf(parseUtf8(utf8(text)))).toBe(text);
      }),
    );
    expect(valueOf(parseUtf8(utf8("\ufeffa\0b")))).toBe("\ufeffa\0b");
  });

  it.each([
    ["an overlong form", [0xc0, 0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a cut sequence", [0xf0, 0x9f, 0x98]],
    ["a lone continuation", [0x80]],
    ["beyond U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
    ["0xff", [0xff]],
  ])("refuses %s", (_name, input) => {
    expect(failureOf(parseUtf8(Uint8Array.from(input)))).toBe("utf8");
  });

  it("R52: tells lone surrogates from pairs", () => {
    expect(isWellFormed("\ud83d")).toBe(false);
    expect(isWellFormed("a\ude00b")).toBe(false);
    expect(isWellFormed("\u{1f600}")).toBe(true);
    expect(isWellFormed("")).toBe(true);
  });
});

describe("ids", () => {
  it("round-trips text and uuid forms", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (id) => {
        expect(valueOf(parseId(idText(id)))).toEqual(Uint8Array.from(id));
        expect(valueOf(bytesFromUuid(uuidFromBytes(id)))).toEqual(Uint8Array.from(id));
      }),
    );
    const uuid = uuidFromBytes(Uint8Array.from({ length: 16 }, (_, i) => i));
    expect(uuid).toBe("00010203-0405-0607-0809-0a0b0c0d0e0f");
  });

  it("refuses other lengths, and throws on its own broken id", () => {
    expect(failureOf(parseId(idText(new Uint8Array(15))))).toBe("malformed-id");
    expect(failureOf(parseId(idText(new Uint8Array(16)), 32))).toBe("malformed-id");
    expect(() => idFromText("short")).toThrow(/16 bytes/);
    expect(failureOf(bytesFromUuid("00010203-0405-0607-0809-0a0b0c0d0e0g"))).toBe("malformed-uuid");
  });

  it("draws ids and fractions from the generator it is given", () => {
    expect(randomId((length) => new Uint8Array(length).fill(7))).toEqual(
      new Uint8Array(16).fill(7),
    );
    expect(randomFraction(() => Uint8Array.of(0x80, 0, 0, 0))).toBe(0.5);
    expect(randomFraction(() => new Uint8Array(4).fill(0xff))).toBeLessThan(1);
    expect(at([systemRng(32)], 0)).toHaveLength(32);
  });
});
