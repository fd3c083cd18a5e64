/**
 * `pixie notebook …` and `pixie memory …`: what the owner keeps, and what was said.
 *
 * Spec: docs/sources.md "Notebook", "Memory".
 */
import type { Command } from "commander";

import { ok, type Result } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { toolOutput } from "./tool-output.ts";
import { visibleText } from "./visible.ts";

/** Adds `notebook` and its commands. */
export function registerNotebookGroup(program: Command, parts: CliParts): void {
  const notebook = program
    .command("notebook")
    .description("short facts that your agent may look up");
  addCommand(notebook, parts, {
    usage: "add <text>",
    about: "write a note, - reads it from the standard input",
    examples: ['pixie notebook add "The spare key is at Nora\'s"'],
    run: async (invocation) => {
      const text = await textOf(invocation, 0);
      return invocation.withSession({ connect: false }, async (session) =>
        noteOutput(await session.call("save-note", { text }), "noted"),
      );
    },
  });
  addCommand(notebook, parts, {
    usage: "edit <number> <text>",
    about: "replace a note's text, - reads it from the standard input",
    examples: ['pixie notebook edit 3 "The spare key is at Ben\'s"'],
    run: async (invocation) => {
      const row = rowOf(invocation.argument(0));
      if (row === undefined) return badRow;
      const text = await textOf(invocation, 1);
      return invocation.withSession({ connect: false }, async (session) =>
        noteOutput(await session.call("save-note", { row, text }), "changed"),
      );
    },
  });
  addCommand(notebook, parts, {
    usage: "delete <number>",
    about: "delete a note for good",
    examples: ["pixie notebook delete 3"],
    run: byRow("delete-note", "deleted"),
  });
  addCommand(notebook, parts, {
    usage: "list",
    about: "list notes, the last changed first",
    examples: ["pixie notebook list", "pixie notebook list --json"],
    run: ({ withSession }) => withSession({ connect: false }, listNotes),
  });
  addCommand(notebook, parts, {
    usage: "search <words>",
    about: "search as the agent does",
    examples: ["pixie notebook search key"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, (session) =>
        toolOutput(session, "check_notebook", { query: argument(0) ?? "" }),
      ),
  });
}

/** Adds `memory` and its commands. */
export function registerMemoryGroup(program: Command, parts: CliParts): void {
  const memory = program
    .command("memory")
    .description("the log of what was said, to you and by you");
  addCommand(memory, parts, {
    usage: "list",
    about: "list the newest lines, oldest of them first",
    examples: ["pixie memory list", "pixie memory list --last 100"],
    options: [["--last <count>", "how many (default: 20)"]],
    run: ({ text, withSession }) => {
      const last = rowOf(text("last") ?? "20");
      return last === undefined || last > 10_000
        ? Promise.resolve(usage("--last: expected a whole number from 1 to 10000"))
        : withSession({ connect: false }, (session) => listMemory(session, last));
    },
  });
  addCommand(memory, parts, {
    usage: "search <words>",
    about: "search as the agent does",
    examples: ["pixie memory search invoice", "pixie memory search POL-358"],
    run: ({ argument, withSession }) =>
      withSession({ connect: false }, (session) =>
        toolOutput(session, "grep_memory", { query: argument(0) ?? "" }),
      ),
  });
  addCommand(memory, parts, {
    usage: "redact <number>",
    about: "take a line's words out of the log for good",
    examples: ["pixie memory redact 17"],
    run: byRow("redact-memory", "redacted"),
  });
}

const badRow = usage("expected the number of an entry, as list shows it");

function rowOf(typed: string | undefined): number | undefined {
  return /^[1-9]\d{0,8}$/.test(typed ?? "") ? Number(typed) : undefined;
}

async function textOf({ argument, io }: Invocation, index: number): Promise<string> {
  const typed = argument(index) ?? "";
  return typed === "-" ? await io.readInput() : typed;
}

function byRow(
  operation: "delete-note" | "redact-memory",
  did: string,
): (invocation: Invocation) => Promise<Outcome> {
  return async ({ argument, withSession }) => {
    const row = rowOf(argument(0));
    if (row === undefined) return badRow;
    return await withSession({ connect: false }, async (session) => {
      const answer = await session.call(operation, { row });
      return answer.ok ? ok({ json: { row }, lines: [`${row}: ${did}`] }) : answer;
    });
  };
}

type Note = ResultOf<"save-note">;

function noteOutput(saved: Result<Note, DeviceError>, did: string): Outcome {
  return saved.ok ? ok({ json: saved.value, lines: [`${saved.value.row}: ${did}`] }) : saved;
}

async function listNotes(session: Session): Promise<Outcome> {
  const notes = await session.call("notes", {});
  return notes.ok ? ok({ json: notes.value, lines: notes.value.flatMap(noteLines) }) : notes;
}

function noteLines({ row, text, writer, changedMs }: Note): readonly string[] {
  const by = writer === "agent" ? "  (noted by the agent)" : "";
  return [`${row}  ${dayOf(changedMs)}${by}`, ...indented(text)];
}

async function listMemory(session: Session, last: number): Promise<Outcome> {
  const lines = await session.call("memory", { last });
  const contacts = await session.call("contacts", {});
  if (!lines.ok) return lines;
  if (!contacts.ok) return contacts;
  const names = new Map(contacts.value.map(({ aik, name }) => [aik, name]));
  const oldestFirst = lines.value.toReversed();
  return ok({
    json: oldestFirst,
    lines: oldestFirst.flatMap(({ row, atMs, source, author, foreign, text, redactedMs }) => {
      const who = author === "agent" ? "agent" : foreign ? (names.get(author) ?? author) : "me";
      const head = `${row}  ${dayOf(atMs)}  ${source}  ${visibleText(who)}`;
      return redactedMs === null ? [head, ...indented(text)] : [`${head}  (redacted)`];
    }),
  });
}

function indented(text: string): readonly string[] {
  return visibleText(text)
    .split("\n")
    .map((line) => `    ${line}`);
}

function dayOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
