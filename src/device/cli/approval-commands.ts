/**
 * `pixie approvals …` and the question that a terminal asks while a turn waits: what a call would do, and
 * the owner's yes or no. An answer names the hash of what was shown.
 *
 * Spec: docs/agent.md "Approvals".
 */
import type { Command } from "commander";

import { err, ok, type Result } from "../../shared/result.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome } from "./command.ts";
import { visibleLine } from "./visible.ts";

/** Adds `approvals` and its commands. */
export function registerApprovalsGroup(program: Command, parts: CliParts): void {
  const approvals = program
    .command("approvals")
    .description("calls that your agent asks you about");
  addCommand(approvals, parts, {
    usage: "list",
    about: "list the questions, oldest first; one that is asked still waits",
    examples: ["pixie approvals list"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  for (const verdict of ["allow", "deny"] as const) {
    addCommand(approvals, parts, {
      usage: `${verdict} <approval>`,
      about:
        verdict === "allow"
          ? "let a call run, this once; on a terminal it is shown before"
          : "refuse a call",
      examples: [`pixie approvals ${verdict} hT2k9xQb`],
      options: [["--hash <hash>", "the hash of what you looked at; needed without a terminal"]],
      run: (invocation) =>
        invocation.withSession({ connect: false }, (session) =>
          answer(session, invocation, verdict),
        ),
    });
  }
}

type Approval = ResultOf<"approvals">[number];
type Verdict = "allow" | "deny";

/** Asks the person at the terminal about every call of a run that waits. */
export async function askAboutCalls(
  session: Session,
  runId: string,
  {
    ask,
    note,
  }: {
    readonly ask: (question: string) => Promise<string>;
    readonly note: (line: string) => void;
  },
): Promise<void> {
  const known = await session.call("approvals", {});
  if (!known.ok) return;
  for (const waits of known.value.filter((one) => one.runId === runId && one.state === "asked")) {
    for (const line of callLines(waits)) note(line);
    const said = await ask("Let it run, this once? [y/N] ");
    const verdict: Verdict = /^y(es)?$/i.test(said) ? "allow" : "deny";
    const { approvalId, hash } = waits;
    const answered = await session.call("answer-approval", { approvalId, verdict, hash });
    if (!answered.ok) note(answered.error.message);
  }
}

async function answer(
  session: Session,
  { argument, text, io, note }: Invocation,
  verdict: Verdict,
): Promise<Outcome> {
  const wanted = argument(0) ?? "";
  const known = await session.call("approvals", {});
  if (!known.ok) return known;
  const meant = onlyOne(known.value, wanted);
  if (!meant.ok) return meant;
  const hash = text("hash");
  if (hash === undefined && verdict === "allow") {
    if (!io.interactive) {
      const message = `missing --hash: pixie approvals list --json shows the hash of the call`;
      return err({ type: "usage", message });
    }
    for (const line of callLines(meant.value)) note(line);
    const said = await io.ask("Let it run, this once? [y/N] ");
    if (!/^y(es)?$/i.test(said)) return err({ type: "not-confirmed", message: "left as it is" });
  }
  const { approvalId } = meant.value;
  const answered = await session.call("answer-approval", {
    approvalId,
    verdict,
    hash: hash ?? meant.value.hash,
  });
  if (!answered.ok) return answered;
  return ok({ json: answered.value, lines: [approvalLine(answered.value)] });
}

function onlyOne(approvals: readonly Approval[], wanted: string): Result<Approval, DeviceError> {
  const [meant, another] = approvals.filter(({ approvalId }) => approvalId.startsWith(wanted));
  if (meant === undefined) {
    const message = `no approval ${wanted} was asked for: see pixie approvals list`;
    return err({ type: "no-such-approval", message });
  }
  return another === undefined
    ? ok(meant)
    : err({ type: "ambiguous-approval", message: `several approvals begin with ${wanted}` });
}

async function list(session: Session): Promise<Outcome> {
  const known = await session.call("approvals", {});
  if (!known.ok) return known;
  return ok({ json: known.value, lines: known.value.map(approvalLine) });
}

function approvalLine({ approvalId, state, tool, args, why }: Approval): string {
  return [approvalId.slice(0, 8), state, `${tool} ${args}`, `(${why})`].map(visibleLine).join("  ");
}

function callLines({ approvalId, tool, args, why }: Approval): readonly string[] {
  return [`your agent wants to call ${tool} (${approvalId.slice(0, 8)}): ${why}`, `  ${args}`];
}
