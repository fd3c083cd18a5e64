/** What a small model is offered at each step: never what it does wrongly when it can. */
import { describe, expect, it } from "vitest";

import { guidedOffer, openOffer } from "../../../../src/device/model/llama/step-offer.ts";
import type { CompletedCall, StepRequest } from "../../../../src/device/model/port.ts";
import { builtinSkills } from "../../../../src/device/skills/builtin.ts";
import { expand } from "../../../../src/device/skills/expand.ts";
import { openRegistry } from "../../../../src/device/skills/registry.ts";
import { stepRequest } from "../../../support/model-requests.ts";

const registry = openRegistry(builtinSkills);
const toolsOf = (skill: string): StepRequest["tools"] =>
  expand(registry, [skill], () => false).tools;

function call(tool: string, found: number, given: Partial<CompletedCall> = {}): CompletedCall {
  const text = "t";
  const said = { text, untrusted: false, promptText: text };
  const args: CompletedCall["args"] = ["list_devices", "current_date"].includes(tool)
    ? {}
    : { query: "q" };
  return { tool, args, ok: true, found, entries: [], near: false, ...said, ...given };
}

interface Offered {
  readonly tools: readonly string[];
  readonly answer: boolean;
  readonly days: readonly string[];
}

function offered(skill: string, calls: readonly CompletedCall[], question = "q"): Offered {
  const request = stepRequest({ planned: true, question, tools: toolsOf(skill), calls });
  const { tools, answer, days } = guidedOffer(request);
  return { answer, days, tools: tools.map(({ toolName }) => toolName) };
}

/** What `find_file` may be given as its device. */
function devicesAfter(calls: readonly CompletedCall[]): readonly string[] | undefined {
  const request = stepRequest({ planned: true, tools: toolsOf("search-info"), calls });
  const found = guidedOffer(request).tools.find(({ toolName }) => toolName === "find_file");
  return found?.parameters.properties["device"]?.enum;
}

describe("a small model that follows a plan", () => {
  const days: readonly string[] = [];
  const dates = call("current_date", 2, { text: "today: 2026-12-02\nasked: 2026-12-05" });

  it("begins with what takes no argument, looks next, and answers when all is known", () => {
    expect(offered("check-schedule", [])).toEqual({ tools: ["current_date"], answer: false, days });
    const known = ["2026-12-02", "2026-12-05"];
    expect(offered("check-schedule", [dates])).toEqual({
      tools: ["queryCalendar"],
      answer: false,
      days: known,
    });
    const events = call("queryCalendar", 1, { text: "2026-12-09: party", untrusted: true });
    expect(offered("check-schedule", [dates, events])).toEqual({
      tools: [],
      answer: true,
      days: known,
    });
  });

  it("goes on after an empty place, and may answer or go on after one that was not", () => {
    const searches = ["find_file", "grep_memory"];
    expect(offered("search-info", []).tools).toEqual(["check_notebook", ...searches]);
    const empty = offered("search-info", [call("check_notebook", 0)]);
    expect(empty).toMatchObject({ tools: ["list_devices"], answer: false });
    const next = [call("check_notebook", 0), call("list_devices", 1)];
    expect(offered("search-info", next)).toMatchObject({ tools: searches, answer: false });
    const found = offered("search-info", [call("check_notebook", 2)]);
    expect(found).toMatchObject({ tools: ["list_devices", ...searches], answer: true });
  });

  it("goes on after a place that has only what comes near", () => {
    const near = offered("search-info", [call("check_notebook", 2, { near: true })]);
    expect(near).toMatchObject({ tools: ["list_devices"], answer: false });
  });

  it("answers when every place was empty", () => {
    const all = toolsOf("search-info").map(({ toolName }) => call(toolName, 0));
    expect(offered("search-info", all)).toMatchObject({ tools: [], answer: true });
  });

  it("may call a tool that failed again, or answer that it did", () => {
    const failed = call("check_notebook", 0, { ok: false });
    const { tools, answer } = offered("search-info", [failed]);
    expect(tools[0]).toBe("check_notebook");
    expect(answer).toBe(true);
  });

  it("goes on when what takes no argument failed, and does not call it again", () => {
    const calls = [call("check_notebook", 0), call("list_devices", 0, { ok: false })];
    const searches = ["find_file", "grep_memory"];
    expect(offered("search-info", calls)).toMatchObject({ tools: searches, answer: false });
    const last = offered("search-info", [...calls, call("find_file", 0)]);
    expect(last).toMatchObject({ tools: ["grep_memory"], answer: false });
  });

  it("may name the devices that were listed, or all", () => {
    expect(devicesAfter([])).toEqual(["all"]);
    const listed = call("list_devices", 2, { text: "aaa laptop (this device)\nbbb phone" });
    expect(devicesAfter([call("check_notebook", 0), listed])).toEqual(["all", "aaa", "bbb"]);
  });

  it("may name the days of the question", () => {
    expect(offered("check-schedule", [], "on 2026-12-24?").days).toEqual(["2026-12-24"]);
  });
});

it("without a plan, everything that has not answered is offered, and so is the answer", () => {
  const tools = toolsOf("check-schedule");
  const first = guidedOffer(stepRequest({ tools }));
  expect(first).toMatchObject({ tools, answer: true });
  const second = guidedOffer(stepRequest({ tools, calls: [call("current_date", 2)] }));
  expect(second.tools.map(({ toolName }) => toolName)).toEqual(["queryCalendar"]);
});

it("a model that chooses well is offered everything, always", () => {
  const request = stepRequest({ planned: true, tools: toolsOf("search-info") });
  expect(openOffer(request)).toEqual({ tools: request.tools, answer: true, days: [] });
});
