/** What a step's prompt says of the calls before: once, but for what was found when nothing is left to ask. */
import { expect, it } from "vitest";

import type { CompletedCall } from "../../../src/device/model/port.ts";
import { stepMessages } from "../../../src/device/model/transcript.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { stepRequest } from "../../support/model-requests.ts";

const searches = ["current_date", "check_notebook", "grep_memory"];
const tools = toolSet.filter(({ toolName }) => searches.includes(toolName));

function call(tool: string, text: string, given: Partial<CompletedCall> = {}): CompletedCall {
  const args: CompletedCall["args"] = tool === "current_date" ? {} : { query: "key" };
  const said = { text, untrusted: false, promptText: text };
  return { tool, args, ok: true, found: 1, entries: [], near: false, ...said, ...given };
}

function lastMessage(calls: readonly CompletedCall[]): string {
  return (
    stepMessages(stepRequest({ question: "who has the key?", tools, calls })).at(-1)?.text ?? ""
  );
}

const date = call("current_date", "today");
const note = call("check_notebook", "Nora has it");
const nothing = call("grep_memory", "no line", { found: 0 });

it("says a result with the question beside it", () => {
  expect(lastMessage([note])).toBe(
    "Result of check_notebook:\nNora has it\n\nThe question: who has the key?",
  );
});

it("says again what was found when every tool has answered, and no more than that", () => {
  expect(lastMessage([date, note, nothing])).toBe(
    "Result of grep_memory:\nno line\n\nFound before, by check_notebook:\nNora has it\n\nThe question: who has the key?",
  );
  const long = call("check_notebook", "x".repeat(1_001));
  const empty = call("check_notebook", "no note", { found: 0 });
  for (const before of [long, empty]) {
    expect(lastMessage([date, before, nothing])).not.toContain("Found before");
  }
});

it("begins with the whole prompt of the step before", () => {
  const calls = [date, note, nothing];
  const prompts = [1, 2, 3].map((count) =>
    stepMessages(stepRequest({ tools, calls: calls.slice(0, count) })),
  );
  for (const [at, prompt] of prompts.slice(1).entries()) {
    expect(prompt.slice(0, prompts[at]?.length)).toEqual(prompts[at]);
  }
});
