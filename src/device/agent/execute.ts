/**
 * The executing half of a turn: one step after another, each a checked call of a bound tool or the
 * answer. A refused call and a failing tool are results that the brain reads.
 *
 * Guards: the number of calls, and the same call twice whatever came of it (A26). After a stop from
 * outside nothing further is called or told. Spec: docs/agent.md "Guards".
 */
import type { CompletedCall } from "../model/port.ts";
import type { Expansion } from "../skills/expand.ts";
import type { ToolDeclaration } from "../skills/tools.ts";
import type { ToolBox, ToolContext, ToolResult } from "../tools/tool.ts";
import { callKey, checkCall, shownArguments } from "./call-tool.ts";
import { executionPrompt, unavailableText } from "./prompt.ts";
import type { Ending, Turn } from "./turn-parts.ts";

/** Carries a bound turn to its end. */
export async function execute(turn: Turn, expansion: Expansion): Promise<Ending> {
  const { parts, question, signal, emit } = turn;
  const system = executionPrompt(expansion);
  const calls: CompletedCall[] = [];
  const made = new Set<string>();
  for (;;) {
    const reply = await parts.model.step(
      { system, question, tools: expansion.tools, calls },
      signal,
    );
    if (signal.aborted) return afterStop;
    if (reply.type === "failed") {
      return { reason: "model-failed", detail: `${reply.reason}. ${doneText(calls, expansion)}` };
    }
    if (reply.type === "answer") {
      const missing = unavailableText([...expansion.disabled, ...expansion.unknown]);
      emit({ type: "answer", text: missing === "" ? reply.text : `${reply.text}\n\n${missing}` });
      return { reason: "answered", detail: doneText(calls, expansion) };
    }
    const key = callKey(reply.tool, reply.args);
    if (made.has(key)) {
      return {
        reason: "repeated-call",
        detail: `${reply.tool} was asked for twice with the same arguments. ${doneText(calls, expansion)}`,
      };
    }
    if (calls.length >= parts.limits.steps) {
      return {
        reason: "steps",
        detail: `${parts.limits.steps} calls are the most that one turn makes. ${doneText(calls, expansion)}`,
      };
    }
    made.add(key);
    const call = await makeCall(turn, expansion.tools, calls.length + 1, reply);
    if (call === undefined) return afterStop;
    calls.push(call);
  }
}

// The turn has been ended from outside by then, with a reason of its own: nobody reads this one.
const afterStop: Ending = { reason: "aborted", detail: "" };

async function makeCall(
  { parts, request, signal, emit }: Turn,
  bound: readonly ToolDeclaration[],
  step: number,
  reply: { readonly tool: string; readonly args: unknown },
): Promise<CompletedCall | undefined> {
  const { tool } = reply;
  const args = shownArguments(reply.args);
  emit({ type: "tool-call", step, tool, args });
  const isSkill = (slug: string): boolean => request.registry.resolve(slug)?.kind === "skill";
  const checked = checkCall(reply, bound, isSkill);
  const context: ToolContext = { nowMs: parts.clock.nowMs(), zone: parts.zone, signal };
  const result: ToolResult = checked.ok
    ? await runTool(parts.tools, checked.value.declaration.toolName, checked.value.args, context)
    : { ok: false, reason: checked.error };
  if (signal.aborted) return undefined;
  const outcome = result.ok
    ? { ok: true, text: result.text, untrusted: result.untrusted }
    : { ok: false, text: result.reason, untrusted: false };
  emit({ type: "tool-result", step, tool, ...outcome });
  return { tool, args, ...outcome };
}

async function runTool(
  tools: ToolBox,
  toolName: string,
  args: Readonly<Record<string, string>>,
  context: ToolContext,
): Promise<ToolResult> {
  const tool = tools.get(toolName);
  return tool === undefined
    ? { ok: false, reason: `${toolName} is not built into this device` }
    : tool.run(args, context);
}

/** What was done and what was not. */
function doneText(calls: readonly CompletedCall[], { tools }: Expansion): string {
  const called = new Set(calls.map(({ tool }) => tool));
  const names = [...called].join(", ");
  const left = tools.map(({ toolName }) => toolName).filter((name) => !called.has(name));
  const done = names === "" ? "Nothing was called." : `Called: ${names}.`;
  return left.length === 0 ? done : `${done} Not called: ${left.join(", ")}.`;
}
