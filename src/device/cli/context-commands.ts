/**
 * `pixie context …`, `pixie calendar …` and `pixie date`: what the agent may reach, and what it would
 * read there. Files have a file of their own.
 *
 * Paths are made absolute here, where the person's folder is known. Spec: docs/sources.md "Grants".
 */
import path from "node:path";

import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import type { ParamsOf, ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import { addCommand, type CliParts, type Invocation, type Outcome, usage } from "./command.ts";
import { indexFiles } from "./index-progress.ts";
import { toolOutput } from "./tool-output.ts";
import { visibleLine } from "./visible.ts";

type Kind = ParamsOf<"grant-context">["kind"];
const kinds: readonly Kind[] = ["notebook", "memory", "files", "calendar"];

/** Adds `context` and its commands. */
export function registerContextGroup(program: Command, parts: CliParts): void {
  const context = program.command("context").description("what your agent's tools may reach");
  addCommand(context, parts, {
    usage: "list",
    about: "list what is granted",
    examples: ["pixie context list"],
    run: ({ withSession }) => withSession({ connect: false }, (session) => listGrants(session)),
  });
  for (const [name, about] of [
    ["grant", "let the tools reach something"],
    ["revoke", "take a grant back; what was indexed because of it is forgotten"],
  ] as const) {
    addCommand(context, parts, {
      usage: `${name} <kind> [path]`,
      about: `${about}: notebook, memory, files <folder>, calendar <file-or-folder>`,
      examples: [`pixie context ${name} memory`, `pixie context ${name} files ~/Documents`],
      run: (invocation) => {
        const kind = kinds.find((known) => known === invocation.argument(0));
        return kind === undefined
          ? Promise.resolve(usage(`expected ${kinds.join(", ")}, got ${invocation.argument(0)}`))
          : changeGrant(invocation, name, [kind, invocation.argument(1)]);
      },
    });
  }
}

/** Adds `calendar` and its commands. */
export function registerCalendarGroup(program: Command, parts: CliParts): void {
  const calendar = program.command("calendar").description("calendars that your agent may read");
  addPathCommands(calendar, parts, "calendar", "file-or-folder");
  addCommand(calendar, parts, {
    usage: "show",
    about: "show events as the agent reads them; without dates, the next 7 days",
    examples: ["pixie calendar show", "pixie calendar show --from 2026-12-05 --to 2026-12-06"],
    options: [
      ["--from <day>", "first day, as YYYY-MM-DD"],
      ["--to <day>", "last day, as YYYY-MM-DD"],
    ],
    run: ({ text, withSession }) =>
      withSession({ connect: false }, async (session) => {
        const [from, to] = [text("from"), text("to")];
        if ((from === undefined) !== (to === undefined)) return usage("give both --from and --to");
        const days =
          from === undefined || to === undefined ? await nextDays(session) : { from, to };
        return await toolOutput(session, "queryCalendar", days);
      }),
  });
}

/** Adds `date`. */
export function registerDateCommand(program: Command, parts: CliParts): void {
  addCommand(program, parts, {
    usage: "date",
    about: "show what your agent is told about today",
    examples: ["pixie date"],
    run: ({ withSession }) =>
      withSession({ connect: false }, (session) => toolOutput(session, "current_date", {})),
  });
}

/** Adds `add`, `remove` and `list` of one kind of path. */
export function addPathCommands(
  group: Command,
  parts: CliParts,
  kind: "files" | "calendar",
  what: string,
): void {
  addCommand(group, parts, {
    usage: `add <${what}>`,
    about: "let the agent reach it",
    examples: [`pixie ${kind} add ~/${kind === "files" ? "Documents" : "calendar.ics"}`],
    run: (invocation) => changeGrant(invocation, "grant", [kind, invocation.argument(0)]),
  });
  addCommand(group, parts, {
    usage: `remove <${what}>`,
    about: "take it back; what was indexed because of it is forgotten",
    examples: [`pixie ${kind} remove ~/${kind === "files" ? "Documents" : "calendar.ics"}`],
    run: (invocation) => changeGrant(invocation, "revoke", [kind, invocation.argument(0)]),
  });
  addCommand(group, parts, {
    usage: "list",
    about: "list what is granted",
    examples: [`pixie ${kind} list`],
    run: ({ withSession }) =>
      withSession({ connect: false }, (session) => listGrants(session, kind)),
  });
}

async function changeGrant(
  invocation: Invocation,
  change: "grant" | "revoke",
  [kind, typed]: readonly [kind: Kind, typed: string | undefined],
): Promise<Outcome> {
  const hasPath = kind === "files" || kind === "calendar";
  if (hasPath && typed === undefined) return usage(`${kind}: missing the path`);
  const target = typed === undefined ? "" : hasPath ? path.resolve(typed) : typed;
  return await invocation.withSession({ connect: false }, async (session) => {
    const changed =
      change === "grant"
        ? await session.call("grant-context", { kind, target })
        : await session.call("revoke-context", { kind, target });
    if (!changed.ok) return changed;
    const name = visibleLine(target === "" ? kind : `${kind} ${target}`);
    if (change === "revoke") {
      return ok({ json: { kind, target }, lines: [`${name}: not granted any more`] });
    }
    if (kind === "files") return await indexFiles(session, invocation);
    return ok({ json: changed.value, lines: [`${name}: granted`] });
  });
}

async function listGrants(session: Session, only?: Kind): Promise<Outcome> {
  const listed = await session.call("context-grants", {});
  if (!listed.ok) return listed;
  const grants = listed.value.filter(({ kind }) => only === undefined || kind === only);
  const lines = grants.map(({ kind, target }) => visibleLine(`${kind}  ${target}`.trimEnd()));
  if (grants.length === 0) return ok({ json: grants, lines, notes: ["nothing is granted"] });
  const watch = only === "files" ? await session.call("file-watch", {}) : undefined;
  if (watch?.ok === false) return watch;
  return ok({ json: grants, lines, notes: watch === undefined ? [] : [watchNote(watch.value)] });
}

function watchNote({ state, folders, problem }: ResultOf<"file-watch">): string {
  if (state === "off") {
    return "not watched, since no daemon runs (pixie device run): changes are found at the next search";
  }
  const rest = problem === null ? "" : `; ${problem}: the rest is looked at every hour`;
  return visibleLine(`changes are noticed in ${folders} folders${rest}`);
}

async function nextDays(session: Session): Promise<{ readonly from: string; readonly to: string }> {
  const today = await toolOutput(session, "current_date", {});
  const line = today.ok
    ? today.value.lines.map((each) => /^next 7 days: (\S+) to (\S+)$/.exec(each)).find(Boolean)
    : undefined;
  return { from: line?.[1] ?? "", to: line?.[2] ?? "" };
}
