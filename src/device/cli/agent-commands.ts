/**
 * `pixie ask`, `pixie chat` and `pixie runs`: questions to the agent, and what became of them.
 *
 * The answer is data, on the standard output; the plan and how a turn stopped go to the error output.
 * Spec: docs/agent.md "From the command line".
 */
import type { Command } from "commander";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { modeFlag, parseMode, slashRemark } from "./ask-options.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import {
  type AnswerOutput,
  approvalsFor,
  followedTurn,
  type StartTurn,
  stopSignal,
} from "./followed-turn.ts";
import { askOn } from "./homebase-commands.ts";
import { eventLines } from "./trace-text.ts";
import { visibleLine } from "./visible.ts";

/** Adds `ask`, `chat` and `runs`. */
export function registerAgentCommands(program: Command, parts: CliParts): void {
  addCommand(program, parts, {
    usage: "ask [question]",
    about: "ask your agent; /skill-id first names the skill to follow",
    examples: [
      'pixie ask "what is on this weekend?"',
      'pixie ask "/check-schedule tomorrow"',
      'pixie ask --mode plan "what is on this weekend?"',
      'pixie ask "where is my passport?" --on laptop',
      "pixie ask - --json",
    ],
    options: [modeFlag, ["--on <device>", "ask another of your devices, by name or id"]],
    run: ask,
  });
  addCommand(program, parts, {
    usage: "chat",
    about:
      "ask one question after another, a line each; earlier ones are told. End of input or /exit ends it",
    examples: ["pixie chat", "pixie chat --resume hT2k9xQb", "pixie chat < questions.txt"],
    options: [modeFlag, ["--resume <chat>", "go on with a chat of pixie runs chats"]],
    run: chat,
  });
  registerRuns(program, parts);
}

function registerRuns(program: Command, parts: CliParts): void {
  const runs = program.command("runs").description("what your agent did, step by step");
  addCommand(runs, parts, {
    usage: "list",
    about: "list the newest runs, oldest first",
    examples: ["pixie runs list", "pixie runs list --json"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  addCommand(runs, parts, {
    usage: "chats",
    about: "list the newest chats, the one that went on last at the end",
    examples: ["pixie runs chats"],
    run: ({ withSession }) => withSession({ connect: false }, chats),
  });
  addCommand(runs, parts, {
    usage: "show <run>",
    about: "show every step of a run again, from its stored trace",
    examples: ["pixie runs show hT2k9xQb"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const trace = await session.call("run", { runId: argument(0) ?? "" });
        if (!trace.ok) return trace;
        return ok({ json: trace.value, lines: trace.value.flatMap(eventLines) });
      }),
  });
  addCommand(runs, parts, {
    usage: "approve <run>",
    about: "carry out a plan or a goal that was proposed, once",
    examples: ["pixie runs approve hT2k9xQb"],
    run: (invocation) =>
      invocation.withSession({ connect: false }, (session) =>
        approve(session, invocation, invocation.argument(0) ?? ""),
      ),
  });
}

async function ask(invocation: Invocation): Promise<Outcome> {
  const mode = parseMode(invocation.text("mode"));
  if (!mode.ok) return mode;
  const { argument, io, note, withSession } = invocation;
  const typed = argument(0);
  if (typed === undefined && io.interactive) {
    return usage("missing the question: - reads it from the standard input");
  }
  const question =
    typed === undefined || typed === "-" ? (await io.readInput()).replace(/\r?\n$/, "") : typed;
  const signal = stopSignal(invocation);
  const device = invocation.text("on");
  if (device !== undefined) {
    if (mode.value !== "agent") return usage("--on: another device answers in mode agent only");
    return await withSession({ connect: true }, (session) =>
      askOn(invocation, session, { device, question }, signal),
    );
  }
  return await withSession({ connect: false }, async (session) => {
    const remark = await slashRemark(session, question);
    if (remark !== undefined) note(remark);
    const about = { question, mode: mode.value, approvals: approvalsFor(session, invocation) };
    const start: StartTurn = (following) => session.call("ask", about, following);
    const person = io.interactive ? io.ask : undefined;
    const asked = await followedTurn(invocation, { session, start, signal, person });
    return asked.ok ? await offered(session, invocation, asked.value) : asked;
  });
}

/** Offers to carry a proposal out, where a person can be asked. */
async function offered(
  session: Session,
  invocation: Invocation,
  output: AnswerOutput,
): Promise<Outcome> {
  const { io, note } = invocation;
  const { proposal } = output;
  if (proposal === undefined || !io.interactive || invocation.flag("json")) return ok(output);
  for (const line of output.lines) io.writeErr(`${line}\n`);
  const answer = await io.ask("Carry it out? [y/N] ");
  if (/^y(es)?$/i.test(answer)) return await approve(session, invocation, proposal);
  for (const line of output.notes) note(line);
  return ok({ ...output, lines: [], notes: [] });
}

async function approve(session: Session, invocation: Invocation, runId: string): Promise<Outcome> {
  const about = { runId, approvals: approvalsFor(session, invocation) };
  const start: StartTurn = (following) => session.call("approve", about, following);
  const person = invocation.io.interactive ? invocation.io.ask : undefined;
  const signal = stopSignal(invocation);
  return await followedTurn(invocation, { session, start, signal, person });
}

async function chat(invocation: Invocation): Promise<Outcome> {
  const mode = parseMode(invocation.text("mode"));
  if (!mode.ok) return mode;
  const { io, progress, note, withSession } = invocation;
  const signal = stopSignal(invocation);
  return await withSession({ connect: false }, async (session) => {
    const chatId = await chatOf(session, invocation.text("resume"));
    if (!chatId.ok) return chatId;
    const approvals = approvalsFor(session, invocation);
    const about = { mode: mode.value, chatId: chatId.value, approvals };
    const lines = io.lines("> ")[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => {
      const next = await lines.next();
      return next.done === true ? "/exit" : next.value;
    };
    // While a turn waits for its owner, the next line is the answer: there is one input.
    const said = async (question: string): Promise<string> => {
      io.writeErr(question);
      return await nextLine();
    };
    const person = io.interactive ? said : undefined;
    let turns = 0;
    for (let line = await nextLine(); line.trim() !== "/exit"; line = await nextLine()) {
      if (signal.aborted) break;
      if (line.trim() === "") continue;
      const remark = await slashRemark(session, line);
      if (remark !== undefined) note(remark);
      const question = line;
      const start: StartTurn = (following) =>
        session.call("ask", { question, ...about }, following);
      const asked = await followedTurn(invocation, { session, start, signal, person });
      if (!asked.ok) {
        await lines.return?.();
        return asked;
      }
      turns += 1;
      for (const remarked of asked.value.notes) note(remarked);
      progress(asked.value.json, asked.value.lines);
    }
    await lines.return?.();
    return ok({ json: { chatId: chatId.value, turns }, lines: [] });
  });
}

/** A new chat, or the one whose id begins like that. */
async function chatOf(
  session: Session,
  resume: string | undefined,
): Promise<Result<string, DeviceError>> {
  if (resume === undefined) {
    const started = await session.call("start-chat", {});
    return started.ok ? ok(started.value.chatId) : started;
  }
  const known = await session.call("chats", {});
  if (!known.ok) return known;
  const meant = known.value.filter(({ chatId }) => chatId.startsWith(resume));
  const [found] = meant;
  if (found !== undefined && meant.length === 1) return ok(found.chatId);
  return err(
    found === undefined
      ? { type: "no-such-chat", message: `no chat begins with ${resume}: see pixie runs chats` }
      : { type: "ambiguous-chat", message: `several chats begin with ${resume}: give more of it` },
  );
}

async function chats(session: Session): Promise<Outcome> {
  const known = await session.call("chats", {});
  if (!known.ok) return known;
  return ok({
    json: known.value,
    lines: known.value.map(({ chatId, lastMs, turns, question }) =>
      [chatId.slice(0, 8), timeText(lastMs), `${turns} turns`, visibleLine(question)].join("  "),
    ),
  });
}

async function list(session: Session): Promise<Outcome> {
  const runs = await session.call("runs", {});
  if (!runs.ok) return runs;
  return ok({
    json: runs.value,
    lines: runs.value.map(({ runId, startedMs, stopReason, question }) =>
      [runId.slice(0, 8), timeText(startedMs), stopReason, visibleLine(question)].join("  "),
    ),
  });
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
