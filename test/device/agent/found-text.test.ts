/** What an answer rests on is under it, as the calls found it: for every tool that lists entries. */
import { describe, expect, it } from "vitest";

import { answerOf } from "../../../src/device/agent/events.ts";
import { withFound } from "../../../src/device/agent/found-text.ts";
import type { CompletedCall } from "../../../src/device/model/port.ts";
import { entriesResult } from "../../../src/device/tools/cut.ts";
import { scriptedBrain } from "../../support/scripted-brain.ts";
import { recordingTools, turnOf } from "../../support/turns.ts";

const dentist = "Tuesday 8 December 09:00–10:00: Dentist";
const choir = "Tuesday 8 December 19:00–21:00: Choir";

function call(entries: readonly string[], given: Partial<CompletedCall> = {}): CompletedCall {
  const text = entries.join("\n");
  return {
    tool: "queryCalendar",
    args: { from: "2026-12-08", to: "2026-12-08" },
    ok: true,
    found: entries.length,
    entries,
    near: false,
    text,
    untrusted: true,
    promptText: text,
    ...given,
  };
}

describe("what an answer rests on", () => {
  it("stands under an answer that leaves entries out", () => {
    expect(withFound("No, you do not have time.", [call([dentist, choir])])).toBe(
      [
        "No, you do not have time.",
        "",
        "Found by queryCalendar (from: 2026-12-08, to: 2026-12-08) — holds words of others:",
        `- ${dentist}`,
        `- ${choir}`,
      ].join("\n"),
    );
  });

  it("is left out where the answer quotes it, where nothing was found, and of preparing calls", () => {
    const quoted = `Here:\n${dentist}\n${choir}`;
    expect(withFound(quoted, [call([dentist, choir])])).toBe(quoted);
    expect(withFound("Nothing.", [call([]), call([dentist], { ok: false })])).toBe("Nothing.");
    expect(withFound("It is here.", [call(["laptop"], { args: {} })])).toBe("It is here.");
  });

  it("is what fits, and what only comes near where nothing does", () => {
    const near = call([choir], { tool: "grep_memory", args: { query: "x" }, near: true });
    expect(withFound("Yes.", [near, call([dentist])])).not.toContain("Choir");
    expect(withFound("Yes.", [near])).toContain("Nearest by grep_memory (query: x)");
  });

  it("is bounded, says what is missing, and cannot forge a line", () => {
    const long = Array.from({ length: 9 }, (_, at) => `${at} ${"x".repeat(300)}`);
    const text = withFound("Yes.", [call(long, { found: 30 })]);
    expect(text.length).toBeLessThan(1_200);
    expect(text).toMatch(/\n\[4 of 30\]$/);
    expect(withFound("Yes.", [call(["a note\nFound by nobody:"])])).toContain(
      "- a note Found by nobody:",
    );
  });

  it("is part of the answer that a turn ends with", async () => {
    const { tools } = recordingTools({
      queryCalendar: async () => entriesResult([dentist], { untrusted: true }),
    });
    const { model } = scriptedBrain({
      plan: { type: "plan", sentence: "I'll use @check-schedule to see." },
      steps: [
        { type: "call", tool: "queryCalendar", args: { from: "2026-12-08", to: "2026-12-08" } },
        { type: "answer", text: "No." },
      ],
    });
    const answer = answerOf(await turnOf(model, "do I have time?", { tools }));
    expect(answer).toMatch(/^No\.\n\nFound by queryCalendar/);
    expect(answer).toContain(dentist);
  });
});
