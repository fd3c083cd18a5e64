/**
 * The agent's central promise over random plans, calls and loads, in both harnesses: nothing runs that the
 * last `bound` event before it did not name, and every turn ends with one `stopped`.
 */
import fc from "fast-check";
import { expect, it } from "vitest";

import type { AgentEvent } from "../../../src/device/agent/events.ts";
import type { StepReply } from "../../../src/device/model/port.ts";
import type { Skill } from "../../../src/device/skills/skill.ts";
import { toolSet } from "../../../src/device/skills/tools.ts";
import { onDemandTool } from "../../support/on-demand.ts";
import { scriptedBrain } from "../../support/scripted-brain.ts";
import { recordingTools, textResult, turnOf } from "../../support/turns.ts";

const ids = ["alpha", "beta", "gamma"];
const slugs = [...ids, ...toolSet.map(({ slug }) => slug), "nothing", "mail-send"];
const names = [...toolSet.map(({ toolName }) => toolName), "Skill", "ToolSearch", "CallTool"];

const mentions = fc.array(fc.constantFrom(...slugs), { maxLength: 4 });
const skills = fc
  .tuple(...ids.map(() => fc.tuple(mentions, fc.boolean(), fc.boolean())))
  .map((bodies) =>
    bodies.map(([slugsOf, enabled, advertised], at): Skill => {
      const id = ids[at] ?? "";
      const detailedBody = `Do it. ${slugsOf.map((slug) => `@${slug}`).join(" ")}`;
      return {
        id,
        name: id,
        shortDescription: id,
        detailedBody,
        enabled,
        advertised,
        nameIsSet: false,
      };
    }),
  );
const fitting: Readonly<Record<string, object>> = {
  queryCalendar: { from: "2026-12-05", to: "2026-12-06" },
  check_notebook: { query: "x" },
  grep_memory: { query: "x" },
  find_file: { description: "x", device: "all" },
};
const step: fc.Arbitrary<StepReply> = fc.oneof(
  fc.constantFrom(...names, ...ids, "mail-send", "constructor").map((tool): StepReply => {
    return { type: "call", tool, args: fitting[tool] ?? {} };
  }),
  fc.constantFrom(...slugs).map((id): StepReply => ({ type: "call", tool: "Skill", args: { id } })),
  fc
    .constantFrom("mail", "skill", "calendar")
    .map((query): StepReply => ({ type: "call", tool: "ToolSearch", args: { query } })),
);

it("A22: only what is bound is ever called, whatever a brain says", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        population: skills,
        planned: mentions,
        steps: fc.array(step, { maxLength: 10 }),
        harness: fc.constantFrom("planned", "resident"),
        untrusted: fc.boolean(),
      }),
      async ({ population, planned, steps, harness, untrusted }) => {
        const ran: string[] = [];
        const early: string[] = [];
        const bound = new Set<string>();
        const answers = Object.fromEntries(
          toolSet.map(({ toolName }) => [toolName, async () => textResult("x", untrusted)]),
        );
        const recording = recordingTools(answers);
        const onEvent = (event: AgentEvent): void => {
          if (event.type === "bound") event.tools.forEach((name) => bound.add(name));
          if (event.type === "tool-result" && event.ok) ran.push(event.tool);
          const last = recording.received.at(-1)?.tool ?? "";
          if (event.type === "tool-result" && last !== "" && !bound.has(last)) early.push(last);
        };
        const calls: string[] = [];
        const events = await turnOf(
          scriptedBrain({
            plan: { type: "plan", sentence: planned.map((slug) => `@${slug}`).join(" ") },
            steps: [...steps, { type: "answer", text: "done" }],
          }).model,
          "q",
          {
            skills: population,
            tools: recording.tools,
            harness,
            onDemand: [onDemandTool("mail-send", "Sends.", { consent: "after-untrusted", calls })],
            onEvent,
          },
        );
        expect(early).toEqual([]);
        const received = [...recording.received.map(({ tool }) => tool), ...calls];
        expect(received.filter((tool) => !bound.has(tool))).toEqual([]);
        expect(
          ran.filter((tool) => !bound.has(tool) && !["Skill", "ToolSearch"].includes(tool)),
        ).toEqual([]);
        expect(events.filter(({ type }) => type === "stopped")).toHaveLength(1);
        expect(events.at(-1)?.type).toBe("stopped");
      },
    ),
    { numRuns: 300 },
  );
});
