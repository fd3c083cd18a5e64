/**
 * Turns for tests: the built-in skills, tools that answer what a test says, and a clock that stands
 * still until it is moved.
 */
import { nobodyAnswers } from "../../src/device/agent/consent.ts";
import { noHistory } from "../../src/device/agent/history.ts";
import { defaultLimits } from "../../src/device/agent/limits.ts";
import type { AgentEvent } from "../../src/device/agent/events.ts";
import { runTurn } from "../../src/device/agent/turn.ts";
import type { TurnParts, TurnRequest } from "../../src/device/agent/turn-parts.ts";
import type { Model } from "../../src/device/model/port.ts";
import { builtinSkills } from "../../src/device/skills/builtin.ts";
import { openRegistry } from "../../src/device/skills/registry.ts";
import type { Skill } from "../../src/device/skills/skill.ts";
import { toolSet } from "../../src/device/skills/tools.ts";
import type { ToolBox, ToolContext, ToolResult } from "../../src/device/tools/tool.ts";
import { createManualClock } from "./manual-clock.ts";

/** Noon UTC of Wednesday, 2 December 2026. */
export const turnNowMs = Date.UTC(2026, 11, 2, 12);

/** A call that a tool received. */
export interface ReceivedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  readonly context: ToolContext;
}

/** Tools that note every call and answer `text of <name>`, or what `answers` says. */
export function recordingTools(
  answers: Readonly<Record<string, (call: ReceivedCall) => Promise<ToolResult>>> = {},
): { readonly tools: ToolBox; readonly received: ReceivedCall[] } {
  const received: ReceivedCall[] = [];
  const tools = new Map(
    toolSet.map((declaration) => [
      declaration.toolName,
      {
        declaration,
        run: async (args: Readonly<Record<string, string>>, context: ToolContext) => {
          const call = { tool: declaration.toolName, args, context };
          received.push(call);
          const answer = answers[declaration.toolName];
          return answer === undefined
            ? textResult(`text of ${declaration.toolName}`)
            : await answer(call);
        },
      },
    ]),
  );
  return { tools, received };
}

/** A result of one entry. */
export function textResult(text: string, untrusted = false): ToolResult {
  return { ok: true, text, shown: 1, total: 1, untrusted };
}

/** Runs one turn of a brain over the built-in skills, or others. */
export function turnOf(
  model: Model,
  question: string,
  more: Partial<TurnParts & TurnRequest> & { readonly skills?: readonly Skill[] } = {},
): Promise<readonly AgentEvent[]> {
  const parts: TurnParts = {
    model,
    tools: recordingTools().tools,
    clock: createManualClock(turnNowMs),
    zone: "Europe/Berlin",
    limits: defaultLimits,
    approver: nobodyAnswers,
    ...more,
  };
  return runTurn(parts, {
    runId: "run",
    question,
    mode: "agent",
    harness: "planned",
    history: noHistory,
    onDemand: [],
    registry: openRegistry(more.skills ?? builtinSkills),
    alignment: { instructions: undefined, blurbs: [] },
    withhold: () => false,
    rehearse: false,
    ...more,
  });
}
