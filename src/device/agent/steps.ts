/**
 * The acting half of a turn, for both harnesses: one step after another, each a checked call of what is
 * offered or the answer. A refused call and a failing tool are results that the brain reads.
 *
 * Guards: the number of calls, tokens, and the same call twice whatever came of it (A26). After a stop
 * from outside nothing further is called or told. Spec: docs/agent.md "Guards", "Consent".
 */
import type { CompletedCall, MenuLine, ModelFailure, StepReply } from "../model/port.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import { callKey, checkCall, shownArguments } from "./call-tool.ts";
import type { Callable } from "./callable.ts";
import { askOwner } from "./consent.ts";
import { withFound } from "./found-text.ts";
import { spoken } from "./history.ts";
import { unavailableText } from "./prompt.ts";
import type { Ending, Turn } from "./turn-parts.ts";
import { marked } from "./untrusted.ts";

/** What a harness puts before its steps. */
export interface Bench {
  /** Whether a plan chose the procedures in it. */
  readonly planned: boolean;
  readonly system: string;
  /** Asked before every step: loading a skill adds to it. */
  readonly offered: () => readonly Callable[];
  /** What `Skill` can load. */
  readonly menu: readonly MenuLine[];
  /** The skill that the owner named, for a brain that loads it by itself. */
  readonly invoked?: string;
  /** Mentions that expand to nothing here. */
  readonly unavailable: () => readonly string[];
}

/** Carries a turn to its end. */
export async function runSteps(turn: Turn, bench: Bench): Promise<Ending> {
  const { parts, signal, emit } = turn;
  const calls: CompletedCall[] = [];
  const made = new Set<string>();
  const stop = (reason: Ending["reason"], why: string): Ending => ({
    reason,
    detail: `${why} ${doneText(calls, bench)}`,
  });
  for (;;) {
    const reply = await nextStep(turn, bench, calls);
    if (signal.aborted) return afterStop;
    turn.spending.add(reply.usage);
    if (reply.type === "failed") return stop(failureReason(reply), `${reply.reason}.`);
    if (reply.type === "answer") {
      const missing = unavailableText(bench.unavailable());
      const text = withFound(reply.text, calls);
      emit({ type: "answer", text: missing === "" ? text : `${text}\n\n${missing}` });
      return { reason: "answered", detail: doneText(calls, bench) };
    }
    const key = callKey(reply.tool, reply.args);
    if (made.has(key)) {
      return stop("repeated-call", `${reply.tool} was asked for twice with the same arguments.`);
    }
    if (calls.length >= parts.limits.steps) {
      return stop("steps", `${parts.limits.steps} calls are the most that one turn makes.`);
    }
    if (turn.spending.tokens() > parts.limits.tokens) {
      return stop("tokens", `${parts.limits.tokens} tokens are the most that one turn takes.`);
    }
    made.add(key);
    const call = await makeCall(turn, bench, calls, reply);
    if (call === undefined) return afterStop;
    calls.push(call);
  }
}

/** How a turn ends when its brain has failed. */
export function failureReason({ cause }: ModelFailure): Ending["reason"] {
  return cause === "tokens" ? "tokens" : "model-failed";
}

// The turn has been ended from outside by then, with a reason of its own: nobody reads this one.
const afterStop: Ending = { reason: "aborted", detail: "" };

function nextStep(turn: Turn, bench: Bench, calls: readonly CompletedCall[]): Promise<StepReply> {
  const { parts, request, question, signal, emit } = turn;
  return parts.model.step(
    {
      planned: bench.planned,
      system: bench.system,
      question,
      tools: bench.offered().map(({ declaration }) => declaration),
      calls,
      menu: bench.menu,
      ...(bench.invoked === undefined ? {} : { invoked: bench.invoked }),
      history: spoken(request.history.kept),
      onToken: (text) => emit({ type: "token", text }),
    },
    signal,
  );
}

async function makeCall(
  turn: Turn,
  bench: Bench,
  calls: readonly CompletedCall[],
  reply: { readonly tool: string; readonly args: unknown },
): Promise<CompletedCall | undefined> {
  const { request, signal, emit } = turn;
  const { tool } = reply;
  const step = calls.length + 1;
  const args = shownArguments(reply.args);
  emit({ type: "tool-call", step, tool, args });
  const isSkill = (slug: string): boolean => request.registry.resolve(slug)?.kind === "skill";
  const checked = checkCall(reply, bench.offered(), isSkill);
  const result: ToolResult = checked.ok
    ? await consented(
        turn,
        { step, callable: checked.value.target, args: checked.value.args },
        calls,
      )
    : { ok: false, reason: checked.error };
  if (signal.aborted) return undefined;
  const { ok, untrusted = false } = result;
  const text = result.ok ? result.text : result.reason;
  const found = result.ok ? result.total : 0;
  const entries = result.ok ? (result.entries ?? []) : [];
  const near = result.ok && result.near === true;
  emit({ type: "tool-result", step, tool, ok, text, untrusted });
  return {
    tool,
    args,
    ok,
    found,
    entries,
    near,
    text,
    untrusted,
    promptText: untrusted ? marked(text) : text,
  };
}

/** Runs the call if it may run, after asking the owner where that is due. */
async function consented(
  turn: Turn,
  call: {
    readonly step: number;
    readonly callable: Callable;
    readonly args: Readonly<Record<string, string>>;
  },
  calls: readonly CompletedCall[],
): Promise<ToolResult> {
  const { parts, request, question, signal } = turn;
  const tainted =
    request.history.kept.some(({ untrusted }) => untrusted) ||
    calls.some(({ untrusted }) => untrusted);
  const refused = await askOwner(turn, call, tainted);
  if (refused !== undefined) return { ok: false, reason: refused };
  const nowMs = parts.clock.nowMs();
  const context: ToolContext = { nowMs, zone: parts.zone, question, signal };
  return await call.callable.run(call.args, context);
}

/** What was done and what was not. */
function doneText(calls: readonly CompletedCall[], bench: Bench): string {
  const called = new Set(calls.map(({ tool }) => tool));
  const names = [...called].join(", ");
  const left = bench
    .offered()
    .map(({ declaration }) => declaration.toolName)
    .filter((name) => !called.has(name));
  const done = names === "" ? "Nothing was called." : `Called: ${names}.`;
  return left.length === 0 ? done : `${done} Not called: ${left.join(", ")}.`;
}
