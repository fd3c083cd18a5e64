/**
 * Asking the agent from the command line: the modes, the answer with what is said beside it, and the
 * remark on a slash that names no skill.
 *
 * `ask`, `chat` and `runs approve` share it. Spec: docs/agent.md "From the command line".
 */
import { type AgentEvent, answerOf, type Mode, stopOf } from "../agent/events.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { visibleText } from "./visible.ts";

/** The flag of a mode. */
export const modeFlag = [
  "--mode <mode>",
  "agent: acts (the default); plan: proposes a plan; goal: restates the goal with criteria",
] as const;

const modes: readonly Mode[] = ["agent", "plan", "goal"];

/** Reads the flag. */
export function parseMode(text: string | undefined): Result<Mode, DeviceError> {
  const mode = text === undefined ? "agent" : modes.find((one) => one === text);
  return mode === undefined
    ? err({ type: "usage", message: `--mode: expected agent, plan or goal, got ${text}` })
    : ok(mode);
}

/** An answer as a command prints it. */
export interface AnswerOutput {
  readonly json: unknown;
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly exitCode: ExitCode;
  /** The run, when it proposes something that can be approved. */
  readonly proposal: string | undefined;
}

const wellEnded: ReadonlySet<string> = new Set(["answered", "unsure", "proposed"]);

/** Makes the output of a trace. */
export function answerOutput(events: readonly AgentEvent[]): AnswerOutput {
  const answer = answerOf(events);
  const stop = stopOf(events);
  if (stop === undefined) throw new Error("a trace without an end");
  const runId = events.find((event) => event.type === "turn-started")?.runId ?? "";
  const plan = events.find((event) => event.type === "plan")?.sentence;
  const ended = wellEnded.has(stop.reason);
  const proposal = stop.reason === "proposed" ? runId : undefined;
  return {
    json: { runId, answer: answer ?? null, stopReason: stop.reason, events },
    lines: answer === undefined ? [] : visibleText(answer).split("\n"),
    notes: [
      ...events.flatMap((event) => (event.type === "notice" ? [event.text] : [])),
      ...(plan === undefined ? [] : [`plan: ${plan}`]),
      ...(ended ? [] : [`stopped (${stop.reason}): ${stop.detail}`]),
      ...(proposal === undefined
        ? []
        : [`carry it out with: pixie runs approve ${proposal.slice(0, 8)}`]),
    ],
    exitCode: ended ? exitCodes.ok : exitCodes.refused,
    proposal,
  };
}

/** What to tell somebody who typed a slash: the skill is looked up now, and again when it is sent. */
export async function slashRemark(session: Session, typed: string): Promise<string | undefined> {
  const [, slug] = /^\/(\S+)/.exec(typed.trim()) ?? [];
  if (slug === undefined) return undefined;
  const skills = await session.call("skills", {});
  if (!skills.ok) return undefined;
  const meant = skills.value.find(({ id }) => id === slug.toLowerCase());
  if (meant === undefined) return `/${slug} names no skill: it is taken as text`;
  return meant.enabled ? undefined : `@${meant.id} is disabled: /${slug} is taken as text`;
}
