/**
 * Modes: `plan` and `goal` have no core tool and cannot act, in either harness; what they propose is
 * carried out only after its owner approved it, and then exactly that.
 */
import { describe, expect, it } from "vitest";

import { type AgentEvent, answerOf, stopOf } from "../../../src/device/agent/events.ts";
import { approvedProposal } from "../../../src/device/agent/proposal.ts";
import { builtinSkills } from "../../../src/device/skills/builtin.ts";
import { onDemandTool } from "../../support/on-demand.ts";
import { scriptedBrain } from "../../support/scripted-brain.ts";
import { recordingTools, turnOf } from "../../support/turns.ts";

const schedule = { type: "plan", sentence: "I'll use @check-schedule to see." } as const;
const coreOf = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "bound" ? event.core : []));

describe.each(["planned", "resident"] as const)("in the %s harness", (harness) => {
  it("a plan is proposed with what it would follow and could call, and nothing is called", async () => {
    const { tools, received } = recordingTools();
    const brain = scriptedBrain({ plan: schedule });
    const onDemand = [onDemandTool("mail-send", "Sends.")];
    const events = await turnOf(brain.model, "q", { harness, mode: "plan", tools, onDemand });
    expect(stopOf(events)?.reason).toBe("proposed");
    expect(answerOf(events)).toBe(
      "I'll use @check-schedule to see.\nIt would follow: @check-schedule.\nIt could call: current_date, queryCalendar.",
    );
    expect(coreOf(events)).toEqual([]);
    expect(brain.steps).toEqual([]);
    expect(received).toEqual([]);
    expect(JSON.stringify(brain.plans)).not.toMatch(/Skill \{|ToolSearch|CallTool/);
  });

  it("a goal is restated: no menu, no core tool, nothing called", async () => {
    const brain = scriptedBrain({});
    const events = await turnOf(brain.model, "sort my week", { harness, mode: "goal" });
    expect(stopOf(events)?.reason).toBe("proposed");
    expect(brain.direct[0]).toMatchObject({ task: "goal", question: "sort my week" });
    expect(brain.direct[0]?.system).not.toMatch(/Skill|ToolSearch|CallTool|@/);
    expect(brain.plans).toEqual([]);
    expect(brain.steps).toEqual([]);
  });

  it("a named skill is planned, not run; without a menu there is nothing to propose", async () => {
    const brain = scriptedBrain({});
    const named = await turnOf(brain.model, "/fetch-file x", { harness, mode: "plan" });
    expect(approvedProposal(named)).toEqual({
      question: "/fetch-file x",
      plan: { sentence: "I'll use @fetch-file, as asked.", handles: ["fetch-file"], dropped: [] },
    });
    const none = builtinSkills.map((skill) => ({ ...skill, advertised: false }));
    const empty = await turnOf(brain.model, "q", { harness, mode: "plan", skills: none });
    expect(stopOf(empty)?.reason).toBe("answered");
    expect(approvedProposal(empty)).toBeUndefined();
  });

  it("an approved plan is followed as it stands: the brain does not plan again", async () => {
    const proposal = approvedProposal(
      await turnOf(scriptedBrain({ plan: schedule }).model, "q", { harness, mode: "plan" }),
    );
    if (proposal?.plan === undefined) throw new Error("expected a plan");
    const { tools, received } = recordingTools();
    const brain = scriptedBrain({
      plan: { type: "plan", sentence: "@search-info" },
      steps: [
        { type: "call", tool: "current_date", args: {} },
        { type: "call", tool: "find_file", args: { description: "x", device: "all" } },
        { type: "answer", text: "done" },
      ],
    });
    const approved = proposal.plan;
    const events = await turnOf(brain.model, proposal.question, { harness, tools, approved });
    expect(brain.plans).toEqual([]);
    expect(received.map(({ tool }) => tool)).toEqual(["current_date"]);
    expect(stopOf(events)?.reason).toBe("answered");
  });
});

it("an approved goal is asked together with its criteria", async () => {
  const events = await turnOf(scriptedBrain({}).model, "sort my week", { mode: "goal" });
  expect(approvedProposal(events)).toEqual({
    question: "sort my week\n\nThe goal, as its owner approved it:\ndirectly",
  });
});
