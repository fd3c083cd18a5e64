import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const folder = new URL("../../../src/relay/store/", import.meta.url);

/** CTEs and statements that touch a hot table and name no lane. */
function unbound(source: string): string[] {
  const statements = source.match(/`[^`]*\b(?:select|insert|update|delete)\b[^`]*`/g) ?? [];
  return statements.flatMap((statement) =>
    statement
      .split(/^\),?$/m)
      .filter((part) => /\b(?:from|into|update|join)\s+(?:item|body|mailbox)\b/.test(part))
      .filter((part) => !/\blane\s*=|\(lane,/.test(part)),
  );
}

describe("hot statements", () => {
  it("all bind a lane", () => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(8);
    const flaws = files.flatMap((name) => unbound(readFileSync(new URL(name, folder), "utf8")));
    expect(flaws).toEqual([]);
  });

  it("would be refused without one", () => {
    expect(unbound("sql`select seq from item where mailbox = ${box}`")).toHaveLength(1);
    expect(unbound("sql`update mailbox set session = 1 where mailbox = ${box}`")).toHaveLength(1);
    expect(unbound("sql`select seq from item where lane = ${lane}`")).toEqual([]);
  });
});
