/** Causes as one line: what they say is kept, connection strings are not. */
import { expect, it } from "vitest";

import { causeText, hasCode } from "../../../src/relay/db/database-error.ts";

it("hides connection strings, whoever put them into a text", () => {
  const cause = new Error("no route to postgres://relay:hunter2@db/pixie\n  at once");
  expect(causeText(cause)).toBe("no route to postgres://… at once");
});

it("finds the texts of an error that has none of its own", () => {
  const cause = new AggregateError([new Error("refused ::1"), new Error("refused 127.0.0.1")], "");
  expect(causeText(cause)).toBe("refused ::1; refused 127.0.0.1");
  expect(causeText(new TypeError(""))).toBe("TypeError");
  expect(causeText("text")).toBe("text");
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:1");
  expect(causeText(new TypeError("fetch failed", { cause: refused }))).toBe(refused.message);
});

it("tells system errors by their code", () => {
  expect(hasCode(Object.assign(new Error("x"), { code: "ENOENT" }), "ENOENT")).toBe(true);
  expect(hasCode({ code: "ENOENT" }, "ENOENT")).toBe(false);
});
