/** Ignore files, by examples of git's own manual, and by patterns made to take long. */
import { describe, expect, it } from "vitest";

import { isIgnored, parseIgnoreFile } from "../../../src/device/sources/ignore-rules.ts";

const ignored = (rules: string, path: string, isFolder = false): boolean =>
  isIgnored(parseIgnoreFile(rules, ""), path, isFolder);

describe("isIgnored", () => {
  it.each([
    ["*.log", "a.log"],
    ["*.log", "deep/down/a.log"],
    ["/top.txt", "top.txt"],
    ["doc/*.txt", "doc/a.txt"],
    ["**/foo", "a/b/foo"],
    ["a/**/b", "a/b"],
    ["a/**/b", "a/x/y/b"],
    ["abc/**", "abc/x/y"],
    ["fo?.[ch]", "foo.c"],
    ["[!a].txt", "b.txt"],
    ["[0-9]*", "7up"],
    ["\\!bang", "!bang"],
    ["\\#hash", "#hash"],
    ["space\\ ", "space "],
    ["trailing   ", "trailing"],
    ["star\\*", "star*"],
    ["😀?", "😀😀"],
  ])("%j leaves out %j", (rules, path) => {
    expect(ignored(rules, path)).toBe(true);
  });

  it.each([
    ["# *.log", "a.log"],
    ["", "a"],
    ["/", "a"],
    ["/top.txt", "a/top.txt"],
    ["doc/*.txt", "doc/sub/a.txt"],
    ["doc/*.txt", "x/doc/a.txt"],
    ["build/", "build"],
    ["abc/**", "abc"],
    ["[0-9]", "a"],
    ["star\\*", "stars"],
    ["*.log\n!keep.log", "keep.log"],
  ])("%j keeps %j", (rules, path) => {
    expect(ignored(rules, path)).toBe(false);
  });

  it("a rule for folders fits folders", () => {
    expect(ignored("build/", "x/build", true)).toBe(true);
  });

  it("the last rule decides, and an inner file's rules are about its folder", () => {
    expect(ignored("!a\na", "a")).toBe(true);
    const rules = [...parseIgnoreFile("*.log", ""), ...parseIgnoreFile("!/x.log", "in/")];
    expect(isIgnored(rules, "in/x.log", false)).toBe(false);
    expect(isIgnored(rules, "in/deep/x.log", false)).toBe(true);
    expect(isIgnored(rules, "x.log", false)).toBe(true);
  });

  it("a line of asterisks takes no time", () => {
    const line = `${"*a".repeat(120)}b`;
    expect(ignored(line, "a".repeat(250))).toBe(false);
    expect(ignored(`${"**/a/".repeat(60)}b`, "a/".repeat(120) + "c")).toBe(false);
  });
});
