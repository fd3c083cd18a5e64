/** What is typed becomes an expression that FTS5 always takes, and finds what is there. */
import { SqliteDatabase } from "../../../src/device/store/driver.ts";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";

import {
  allOf,
  anyOf,
  indexedText,
  searchWords,
} from "../../../src/device/sources/search-words.ts";

const database = new SqliteDatabase(":memory:");
database.exec(
  "create virtual table t using fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
);
const insert = database.prepare("insert into t (rowid, text) values (?, ?)");
const select = database.prepare<[string], { rowid: number }>("select rowid from t where t match ?");
afterAll(() => {
  database.close();
});

const texts = [
  "ticket POL-358 was closed on 2026-05-08, don't reopen",
  "a multi-agent setup in C++ with foo:bar AND nothing else",
  "来週の会議は東京で開きます",
  "ประชุมพรุ่งนี้ที่กรุงเทพ",
  "Café Zürich, straße 12",
  "half a 😀 pair",
];
texts.forEach((text, index) => insert.run(index, indexedText(text)));

function found(query: string): readonly number[] {
  const words = searchWords(query);
  return words.length === 0 ? [] : select.all(allOf(words)).map(({ rowid }) => rowid);
}

describe("searchWords", () => {
  it.each([
    ["POL-358", 0],
    ["2026-05-08", 0],
    ["don't", 0],
    ["multi-agent", 1],
    ["AND", 1],
    ["foo:bar", 1],
    ["C++", 1],
    ['"agent', 1],
    ["(agent", 1],
    ["cafe zurich", 4],
    ["Where is the Café?", 4],
  ])("A41: %j finds its line", (query, index) => {
    expect(found(query)).toEqual([index]);
  });

  it.each(["x OR", "*", "-", "", "   ", '"', "NEAR(", "\u0000", "text:"])(
    "A41: %j throws nothing",
    (query) => {
      expect(found(query)).toEqual([]);
    },
  );

  it.each([
    ["会議", 2],
    ["東京", 2],
    ["京", 2],
    ["พรุ่งนี้", 3],
  ])("A41: %j is found in a script without spaces", (query, index) => {
    expect(found(query)).toEqual([index]);
    // Letters that are there, but not side by side.
    expect(found(Array.from(query).toReversed().join("")).length).toBe(query.length > 1 ? 0 : 1);
  });

  it("drops fillers only while a telling word is left", () => {
    expect(searchWords("what is my PAN number")).toEqual(['"PAN"', '"number"']);
    expect(searchWords("what is it")).toEqual(['"what"', '"is"', '"it"']);
  });

  it("A41: whatever is typed, FTS5 takes the expression", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (query) => {
        const words = searchWords(query);
        if (words.length === 0) return;
        select.all(allOf(words));
        select.all(anyOf(words));
      }),
      { numRuns: 500 },
    );
  });
});
