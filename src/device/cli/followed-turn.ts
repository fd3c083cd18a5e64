/**
 * One question at the command line, followed while it is answered: what is planned, called and waited
 * for goes to the error output as it happens, the words of the answer to the standard output as they
 * come. Ctrl-C takes the question back.
 *
 * Spec: docs/agent.md "From the command line".
 */
import { type AgentEvent, answerOf, stopOf } from "../agent/events.ts";
import { ok, type Result } from "../../shared/result.ts";
import type { Following, Progress } from "../api/agent-operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { askAboutCalls } from "./approval-commands.ts";
import type { Invocation } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { visibleLine, visibleText } from "./visible.ts";

/** An answer as a command prints it. */
export interface AnswerOutput {
  readonly json: unknown;
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly exitCode: ExitCode;
  /** The run, when it proposes something that can be approved. */
  readonly proposal: string | undefined;
}

/** Starts a turn that is to be followed. */
export type StartTurn = (
  following: Following,
) => Promise<Result<readonly AgentEvent[], DeviceError>>;

/** A turn to follow, and whom to ask meanwhile. */
export interface Followed {
  readonly session: Session;
  readonly start: StartTurn;
  readonly signal: AbortSignal;
  /** Asks the person at the terminal; absent where there is none. */
  readonly person: ((question: string) => Promise<string>) | undefined;
}

/** Asks, and makes the answer what is printed. */
export async function followedTurn(
  invocation: Invocation,
  { session, start, signal, person }: Followed,
): Promise<Result<AnswerOutput, DeviceError>> {
  let written = "";
  let runId = "";
  const questions: Promise<void>[] = [];
  const onProgress = (progress: Progress): void => {
    if (progress.type === "turn-started") runId = progress.runId;
    if (progress.type === "approval" && progress.state === "asked" && person !== undefined) {
      questions.push(askAboutCalls(session, runId, { ask: person, note: invocation.note }));
    }
    const { io, note, flag } = invocation;
    if (progress.type === "token" && !flag("json")) {
      written += progress.text;
      io.writeOut(visibleText(progress.text));
    }
    for (const line of noteLines(progress, io.interactive)) note(line);
  };
  const asked = await start({ signal, onProgress });
  await Promise.all(questions);
  return asked.ok ? ok(answerOutput(asked.value, written)) : asked;
}

/** A signal that aborts when the person stops the command. */
export function stopSignal({ io }: Invocation): AbortSignal {
  const stop = new AbortController();
  void io.stopped().then(() => stop.abort());
  return stop.signal;
}

/** Whether a turn may wait for its owner: without a terminal and without a daemon nobody can answer. */
export function approvalsFor(session: Session, { io }: Invocation): "wait" | "deny" {
  return io.interactive || session.daemonPid !== undefined ? "wait" : "deny";
}

function noteLines(progress: Progress, person: boolean): readonly string[] {
  if (progress.type === "queued") return [`waiting: ${progress.ahead} ahead`];
  if (progress.type === "notice") return [progress.text];
  if (progress.type === "plan") return [`plan: ${progress.sentence}`];
  if (progress.type !== "tool-call" || !person) return [];
  return [`calling ${progress.tool} ${JSON.stringify(progress.args)}`];
}

const wellEnded: ReadonlySet<string> = new Set(["answered", "unsure", "proposed"]);

function answerOutput(events: readonly AgentEvent[], written: string): AnswerOutput {
  const answer = answerOf(events);
  const stop = stopOf(events);
  if (stop === undefined) throw new Error("a trace without an end");
  const runId = events.find((event) => event.type === "turn-started")?.runId ?? "";
  const ended = wellEnded.has(stop.reason);
  const proposal = stop.reason === "proposed" ? runId : undefined;
  return {
    json: { runId, answer: answer ?? null, stopReason: stop.reason, events },
    lines: restOf(answer, written),
    notes: [
      ...(ended ? [] : [`stopped (${stop.reason}): ${visibleLine(stop.detail)}`]),
      ...(proposal === undefined
        ? []
        : [`carry it out with: pixie runs approve ${proposal.slice(0, 8)}`]),
    ],
    exitCode: ended ? exitCodes.ok : exitCodes.refused,
    proposal,
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
