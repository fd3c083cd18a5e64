/**
 * Guards and stops of a turn: each has a reason of its own, and every turn ends with exactly one
 * `stopped`, whatever brain and tools do.
 */
import { EventEmitter } from "node:events";

import { describe, expect, it } from "vitest";

import { type AgentEvent, stopOf } from "../../../src/device/agent/events.ts";
import { defaultLimits } from "../../../src/device/agent/limits.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { scriptedBrain } from "../../support/scripted-brain.ts";
import { recordingTools, textResult, turnNowMs, turnOf } from "../../support/turns.ts";

const useSchedule = { type: "plan", sentence: "I'll use @check-schedule to see." } as const;
const dateCall = { type: "call", tool: "current_date", args: {} } as const;
const types = (events: readonly AgentEvent[]): readonly string[] => events.map(({ type }) => type);

describe("guards", () => {
  it("A22: a skill called as a tool is told what it is", async () => {
    for (const tool of [
      "check-schedule",
      "@check-schedule",
      "check_schedule",
      "Check-Schedule(tomorrow)",
    ]) {
      const { model } = scriptedBrain({
        plan: useSchedule,
        steps: [
          { type: "call", tool, args: {} },
          { type: "answer", text: "ok" },
        ],
      });
      const events = await turnOf(model, "q");
      expect(events.find(({ type }) => type === "tool-result")).toMatchObject({
        ok: false,
        text: "check-schedule is a skill; bound tools are current_date, queryCalendar",
      });
    }
  });

  it("A26: the same call twice ends the turn, successful or not, however its arguments are ordered", async () => {
    const from = { from: "2026-12-05", to: "2026-12-06" };
    const back = { to: "2026-12-06", from: "2026-12-05" };
    for (const failing of [false, true]) {
      const { tools, received } = recordingTools({
        queryCalendar: async () => (failing ? { ok: false, reason: "no" } : textResult("yes")),
      });
      const { model } = scriptedBrain({
        plan: useSchedule,
        steps: [
          { type: "call", tool: "queryCalendar", args: from },
          { type: "call", tool: "queryCalendar", args: back },
        ],
      });
      const events = await turnOf(model, "q", { tools });
      expect(received).toHaveLength(1);
      expect(stopOf(events)).toEqual({
        type: "stopped",
        reason: "repeated-call",
        detail:
          "queryCalendar was asked for twice with the same arguments. Called: queryCalendar. Not called: current_date.",
      });
    }
  });

  it("A26: refused calls are counted as well", async () => {
    const { model } = scriptedBrain({
      plan: useSchedule,
      steps: [{ type: "call", tool: "nothing", args: { a: [1] } }],
    });
    expect(stopOf(await turnOf(model, "q"))?.reason).toBe("repeated-call");
  });

  it("ends after eight calls", async () => {
    const { tools, received } = recordingTools();
    const days = Array.from(
      { length: 20 },
      (_, at) => `2026-12-${String(at + 1).padStart(2, "0")}`,
    );
    const { model } = scriptedBrain({
      plan: useSchedule,
      steps: days.map((day) => ({
        type: "call",
        tool: "queryCalendar",
        args: { from: day, to: day },
      })),
    });
    const events = await turnOf(model, "q", { tools });
    expect(received).toHaveLength(8);
    expect(stopOf(events)?.reason).toBe("steps");
  });

  it("ends when its tokens are used up: evaluated and generated ones count, cached ones do not", async () => {
    const usage = { promptTokens: 5_000, evaluatedTokens: 30, completionTokens: 20, ms: 1 };
    const { tools, received } = recordingTools();
    const { model } = scriptedBrain({
      plan: useSchedule,
      steps: Array.from({ length: 8 }, (_, at) => ({
        type: "call" as const,
        tool: "queryCalendar",
        args: { from: "2026-12-01", to: `2026-12-0${at + 1}` },
        usage,
      })),
    });
    const events = await turnOf(model, "q", { tools, limits: { ...defaultLimits, tokens: 120 } });
    expect(received).toHaveLength(2);
    expect(stopOf(events)).toMatchObject({
      reason: "tokens",
      detail:
        "120 tokens are the most that one turn takes. Called: queryCalendar. Not called: current_date.",
    });
  });

  it("a reply that was cut at its own limit is a stop of its own", async () => {
    const cut = {
      type: "failed",
      reason: "the reply was cut at 400 tokens",
      cause: "tokens",
    } as const;
    expect(stopOf(await turnOf(scriptedBrain({ plan: cut }).model, "q"))?.reason).toBe("tokens");
    const step = scriptedBrain({ plan: useSchedule, steps: [cut] });
    expect(stopOf(await turnOf(step.model, "q"))?.reason).toBe("tokens");
  });

  it("a menu above half of the brain's context is refused before anything is sent, a large one noted", async () => {
    const brain = scriptedBrain({ plan: useSchedule });
    const refused = await turnOf({ ...brain.model, contextTokens: 100 }, "q");
    expect(stopOf(refused)?.reason).toBe("menu-too-large");
    expect(stopOf(refused)?.detail).toContain("take some off, e.g. @check-schedule, @search-info");
    expect(brain.plans).toEqual([]);
    const noted = await turnOf({ ...brain.model, contextTokens: 400 }, "q");
    expect(noted.find(({ type }) => type === "notice")).toMatchObject({
      text: expect.stringContaining("more than a quarter"),
    });
    const exact = await turnOf({ ...brain.model, contextTokens: 400, countTokens: () => 7 }, "q");
    expect(types(exact)).not.toContain("notice");
  });

  it("tells the words of an answer as they come, and keeps none of them in the trace", async () => {
    const brain = scriptedBrain({
      plan: useSchedule,
      steps: [{ type: "answer", text: "a concert" }],
    });
    const heard: AgentEvent[] = [];
    const events = await turnOf(
      {
        ...brain.model,
        step: async (request, signal) => {
          request.onToken?.("a ");
          request.onToken?.("concert");
          return await brain.model.step(request, signal);
        },
      },
      "q",
      { onEvent: (event) => heard.push(event) },
    );
    expect(heard.flatMap((event) => (event.type === "token" ? [event.text] : []))).toEqual([
      "a ",
      "concert",
    ]);
    expect(types(events)).not.toContain("token");
  });

  it("ends when the time is up, although a tool hangs, and tells nothing afterwards", async () => {
    const clock = createManualClock(turnNowMs);
    const held = new EventEmitter();
    let signal: AbortSignal | undefined;
    const { tools } = recordingTools({
      current_date: (call) =>
        new Promise((resolve) => {
          signal = call.context.signal;
          held.once("release", () => resolve(textResult("late")));
          void clock.advance(60_000);
        }),
    });
    const { model } = scriptedBrain({ plan: useSchedule, steps: [dateCall] });
    const heard: AgentEvent[] = [];
    const events = await turnOf(model, "q", {
      tools,
      clock,
      limits: { ...defaultLimits, wallMs: 60_000 },
      onEvent: (event) => heard.push(event),
    });
    expect(stopOf(events)?.reason).toBe("wall-clock");
    expect(signal?.aborted).toBe(true);
    held.emit("release");
    await Promise.resolve();
    expect(heard).toEqual(events);
    expect(types(events).filter((type) => type === "stopped")).toHaveLength(1);
  });

  it("ends when its owner aborts, before or during", async () => {
    const before = await turnOf(scriptedBrain({ plan: useSchedule }).model, "q", {
      signal: AbortSignal.abort(),
    });
    expect(types(before)).toEqual(["turn-started", "stopped"]);
    const controller = new AbortController();
    const { tools } = recordingTools({
      current_date: async () => {
        controller.abort();
        return textResult("x");
      },
    });
    const { model } = scriptedBrain({ plan: useSchedule, steps: [dateCall] });
    const during = await turnOf(model, "q", { tools, signal: controller.signal });
    expect(stopOf(during)?.reason).toBe("aborted");
  });

  it("a brain's trouble is a stop, not an exception", async () => {
    const failed = { type: "failed", reason: "out of memory" } as const;
    expect(stopOf(await turnOf(scriptedBrain({ plan: failed }).model, "q"))).toMatchObject({
      reason: "model-failed",
      detail: "No plan: out of memory.",
    });
    const step = scriptedBrain({ plan: useSchedule, steps: [dateCall, failed] });
    expect(stopOf(await turnOf(step.model, "q"))?.detail).toBe(
      "out of memory. Called: current_date. Not called: queryCalendar.",
    );
  });
});
