/**
 * `pixie ask`, `pixie chat` and `pixie runs`: questions to the agent, and what became of them.
 *
 * The answer is data, on the standard output; the plan and how a turn stopped go to the error output.
 * Spec: docs/agent.md "From the command line".
 */
import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { followedTurn, stopSignal } from "./followed-turn.ts";
import { eventLines } from "./trace-text.ts";
import { visibleLine } from "./visible.ts";

/** Adds `ask`, `chat` and `runs`. */
export function registerAgentCommands(program: Command, parts: CliParts): void {
  const mode = ["--mode <mode>", "agent: acts at once (the only one in this version)"] as const;
  addCommand(program, parts, {
    usage: "ask [question]",
    about: "ask your agent; /skill-id first names the skill to follow",
    examples: [
      'pixie ask "what is on this weekend?"',
      'pixie ask "/check-schedule tomorrow"',
      "pixie ask - --json",
    ],
    options: [mode],
    run: ask,
  });
  addCommand(program, parts, {
    usage: "chat",
    about: "ask one question after another, a line each; end of input or /exit ends it",
    examples: ["pixie chat", "pixie chat < questions.txt"],
    options: [mode],
    run: chat,
  });
  const runs = program.command("runs").description("what your agent did, step by step");
  addCommand(runs, parts, {
    usage: "list",
    about: "list the newest runs, oldest first",
    examples: ["pixie runs list", "pixie runs list --json"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  addCommand(runs, parts, {
    usage: "show <run>",
    about: "show every step of a run again",
    examples: ["pixie runs show hT2k9xQb"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const trace = await session.call("run", { runId: argument(0) ?? "" });
        if (!trace.ok) return trace;
        return ok({ json: trace.value, lines: trace.value.flatMap(eventLines) });
      }),
  });
}

async function ask(invocation: Invocation): Promise<Outcome> {
  const wrong = modeProblem(invocation.text("mode"));
  if (wrong !== undefined) return usage(wrong);
  const { argument, io, withSession } = invocation;
  const typed = argument(0);
  if (typed === undefined && io.interactive) {
    return usage("missing the question: - reads it from the standard input");
  }
  const question =
    typed === undefined || typed === "-" ? (await io.readInput()).replace(/\r?\n$/, "") : typed;
  const signal = stopSignal(invocation);
  return await withSession({ connect: false }, (session) =>
    followedTurn(invocation, session, question, signal),
  );
}

async function chat(invocation: Invocation): Promise<Outcome> {
  const wrong = modeProblem(invocation.text("mode"));
  if (wrong !== undefined) return usage(wrong);
  const { io, progress, note, withSession } = invocation;
  const signal = stopSignal(invocation);
  return await withSession({ connect: false }, async (session) => {
    let turns = 0;
    for await (const line of io.lines("> ")) {
      if (line.trim() === "/exit" || signal.aborted) break;
      if (line.trim() === "") continue;
      const asked = await followedTurn(invocation, session, line, signal);
      if (!asked.ok) return asked;
      turns += 1;
      for (const remark of asked.value.notes ?? []) note(remark);
      progress(asked.value.json, asked.value.lines);
    }
    return ok({ json: { turns }, lines: [] });
  });
}

async function list(session: Session): Promise<Outcome> {
  const runs = await session.call("runs", {});
  if (!runs.ok) return runs;
  return ok({
    json: runs.value,
    lines: runs.value.map(({ runId, startedMs, stopReason, question }) => {
      const time = new Date(startedMs).toISOString().slice(0, 16).replace("T", " ");
      return `${runId.slice(0, 8)}  ${time}Z  ${stopReason}  ${visibleLine(question)}`;
    }),
  });
}

function modeProblem(mode: string | undefined): string | undefined {
  if (mode === undefined || mode === "agent") return undefined;
  return mode === "plan" || mode === "goal"
    ? `the mode ${mode} is not in this version: expected agent`
    : `--mode: expected agent, got ${mode}`;
}
