/**
 * One question at the command line, followed while it is answered: what is planned, called and waited
 * for goes to the error output as it happens, the words of the answer to the standard output as they
 * come. Ctrl-C takes the question back.
 *
 * Spec: docs/agent.md "From the command line".
 */
import { type AgentEvent, answerOf, stopOf } from "../agent/events.ts";
import { ok } from "../../shared/result.ts";
import type { Progress } from "../api/agent-operations.ts";
import type { Session } from "../api/session.ts";
import type { Invocation, Outcome } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { visibleLine, visibleText } from "./visible.ts";

/** Asks, and makes the answer the outcome. */
export async function followedTurn(
  invocation: Invocation,
  session: Session,
  question: string,
  signal: AbortSignal,
): Promise<Outcome> {
  let written = "";
  const onProgress = (progress: Progress): void => {
    const { io, note, flag } = invocation;
    if (progress.type === "token" && !flag("json")) {
      written += progress.text;
      io.writeOut(visibleText(progress.text));
    }
    for (const line of noteLines(progress, io.interactive)) note(line);
  };
  const asked = await session.call("ask", { question }, { signal, onProgress });
  return asked.ok ? ok(answerOutput(asked.value, written)) : asked;
}

/** A signal that aborts when the person stops the command. */
export function stopSignal({ io }: Invocation): AbortSignal {
  const stop = new AbortController();
  void io.stopped().then(() => stop.abort());
  return stop.signal;
}

function noteLines(progress: Progress, person: boolean): readonly string[] {
  if (progress.type === "queued") return [`waiting: ${progress.ahead} ahead`];
  if (progress.type === "plan") return [`plan: ${progress.sentence}`];
  if (progress.type !== "tool-call" || !person) return [];
  return [`calling ${progress.tool} ${JSON.stringify(progress.args)}`];
}

function answerOutput(
  events: readonly AgentEvent[],
  written: string,
): Extract<Outcome, { ok: true }>["value"] {
  const answer = answerOf(events);
  const stop = stopOf(events);
  if (stop === undefined) throw new Error("a trace without an end");
  const runId = events.find((event) => event.type === "turn-started")?.runId;
  const ended = stop.reason === "answered" || stop.reason === "unsure";
  return {
    json: { runId, answer: answer ?? null, stopReason: stop.reason, events },
    lines: restOf(answer, written),
    notes: ended ? [] : [`stopped (${stop.reason}): ${visibleLine(stop.detail)}`],
    exitCode: ended ? exitCodes.ok : exitCodes.refused,
  };
}

/** What is still to be printed of an answer whose words came one by one. */
function restOf(answer: string | undefined, written: string): readonly string[] {
  if (written === "") return answer === undefined ? [] : visibleText(answer).split("\n");
  // Ends the line that the words stand in.
  if (answer === undefined || answer === written) return [""];
  return answer.startsWith(written)
    ? visibleText(answer.slice(written.length)).split("\n")
    : ["", ...visibleText(answer).split("\n")];
}
