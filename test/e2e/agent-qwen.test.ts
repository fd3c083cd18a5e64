/**
 * Three questions of everyday life on Qwen2.5-Coder-1.5B, where it was fetched: plan, calls and answer
 * over real weights. What is exact about the engine and the agent is in agent-scripted.test.ts.
 */
import { describe, expect, it } from "vitest";

import { answerOf, type AgentEvent, stopOf } from "../../src/device/agent/events.ts";
import { llamaOpeners } from "../../src/device/model-openers.ts";
import type { Model } from "../../src/device/model/port.ts";
import { loadStaticRouter } from "../../src/device/router/static.ts";
import { currentDate } from "../../src/device/tools/current-date.ts";
import { catalogueEntry } from "../../src/device/weights/catalogue.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { modelFile } from "../support/model-files.ts";
import { recordingTools, textResult, turnOf } from "../support/turns.ts";

const file = await modelFile("qwen-coder-1.5b", "three questions on Qwen2.5-Coder-1.5B");

/** One thread, on a machine whose other cores run other tests: minutes, where a person waits seconds. */
const options = { timeout: 1_200_000 };

interface Asked {
  readonly events: readonly AgentEvent[];
  readonly called: readonly string[];
  readonly args: readonly Readonly<Record<string, string>>[];
}

/** As a device opens it on which nothing else was installed: plans are narrowed by the static router. */
async function open(): Promise<Model> {
  const name = "qwen-coder-1.5b";
  const entry = catalogueEntry(name);
  const openers = llamaOpeners({
    clock: createManualClock(),
    options: { folder: "unused", threads: 1 },
    router: loadStaticRouter,
  });
  const opened = await openers.model({
    name,
    path: file ?? "",
    bytes: entry?.bytes ?? 0,
    entry,
  });
  if (!opened.ok) throw new Error(opened.error.reason);
  return opened.value;
}

describe.runIf(file !== undefined)("Qwen2.5-Coder-1.5B", () => {
  let opening: Promise<Model> | undefined;

  async function ask(question: string): Promise<Asked> {
    const model = await (opening ??= open());
    const { tools, received } = recordingTools({
      current_date: (call) => currentDate.run(call.args, call.context),
      queryCalendar: async () =>
        textResult("Saturday 5 December 09:00–11:00: Flea market with Nora", true),
      check_notebook: async () => textResult("2026-03-02: Tom's PAN number is BNZPM2501F"),
      list_devices: async () => textResult("aaaaaaaaaaaaaaaaaaaaaa laptop (this device)"),
      find_file: async () => textResult("papers/lease-2025.pdf (changed 2025-03-01)", true),
      grep_memory: async () => textResult("the memory log has no line with these words"),
    });
    const events = await turnOf(model, question, { tools });
    return {
      events,
      called: received.map(({ tool }) => tool),
      args: received.map(({ args }) => args),
    };
  }

  it("reads the calendar of this weekend and names what is on", options, async () => {
    const { events, called, args } = await ask("What's on this weekend?");
    expect(called).toEqual(["current_date", "queryCalendar"]);
    expect(args[1]).toEqual({ from: "2026-12-05", to: "2026-12-06" });
    expect(answerOf(events)).toMatch(/flea market/i);
    expect(stopOf(events)?.reason).toBe("answered");
  });

  it("looks a fact up in the notebook and tells it as it is", options, async () => {
    const { events, called } = await ask("What is Tom's PAN number?");
    expect(called[0]).toBe("check_notebook");
    expect(answerOf(events)).toContain("BNZPM2501F");
    expect(stopOf(events)?.reason).toBe("answered");
  });

  it("tells the day from the clock, not from memory", options, async () => {
    const { events, called } = await ask("What day is it?");
    expect(called).toEqual(["current_date"]);
    expect(answerOf(events)).toMatch(/Wednesday|2026-12-02|December 2/);
    expect(stopOf(events)?.reason).toBe("answered");
  });
});
