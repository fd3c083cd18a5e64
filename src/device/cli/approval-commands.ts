/**
 * `pixie approvals …` and the question that a terminal asks while a turn waits: what a call would do, and
 * the owner's yes or no. An answer names the hash of what was shown. With `--on` both are about the calls
 * of another own device.
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

const onFlag = ["--on <device>", "of another of your devices, by name or id"] as const;

/** Adds `approvals` and its commands. */
export function registerApprovalsGroup(program: Command, parts: CliParts): void {
  const approvals = program
    .command("approvals")
    .description("calls that your agent asks you about");
  addCommand(approvals, parts, {
    usage: "list",
    about: "list the questions, oldest first; one that is asked still waits",
    examples: ["pixie approvals list", "pixie approvals list --on laptop"],
    options: [onFlag],
    run: ({ text, withSession }) => {
      const device = text("on");
      return withSession({ connect: device !== undefined }, (session) =>
        device === undefined ? list(session) : listOn(session, device),
      );
    },
  });
  for (const verdict of ["allow", "deny"] as const) {
    addCommand(approvals, parts, {
      usage: `${verdict} <approval>`,
      about:
        verdict === "allow"
          ? "let a call run, this once; on a terminal it is shown before"
          : "refuse a call",
      examples: [
        `pixie approvals ${verdict} hT2k9xQb`,
        `pixie approvals ${verdict} hT2k9xQb --on laptop`,
      ],
      options: [
        ["--hash <hash>", "the hash of what you looked at; needed without a terminal"],
        onFlag,
      ],
      run: (invocation) =>
        invocation.withSession({ connect: invocation.text("on") !== undefined }, (session) =>
          answer(session, invocation, verdict),
        ),
    });
  }
}

type DeviceOp = ResultOf<"ask-device">;
/** A question, here or on another device. */
type Question = DeviceOp["approvals"][number];
type Verdict = "allow" | "deny";

/** The person at a terminal, and where to tell them something. */
export interface Person {
  readonly ask: (question: string) => Promise<string>;
  readonly note: (line: string) => void;
}

/** Asks the person at the terminal about every call of a run that waits. */
export async function askAboutCalls(
  session: Session,
  runId: string,
  person: Person,
): Promise<void> {
  const known = await session.call("approvals", {});
  if (!known.ok) return;
  for (const waits of known.value.filter((one) => one.runId === runId && one.state === "asked")) {
    await askAboutCall(session, { question: waits, device: undefined }, person);
  }
}

/** Asks about one call, and passes the answer on to the device that asks. */
export async function askAboutCall(
  session: Session,
  { question, device }: { readonly question: Question; readonly device: string | undefined },
  { ask, note }: Person,
): Promise<void> {
  for (const line of callLines(question)) note(line);
  const said = await ask(letItRun);
  const verdict: Verdict = isYes(said) ? "allow" : "deny";
  const { approvalId, hash } = question;
  const answered = await giveAnswer(session, { approvalId, verdict, hash }, device);
  if (!answered.ok) note(answered.error.message);
}

/** What a call would do, for a person. */
export function callLines({ approvalId, tool, args, why }: Question): readonly string[] {
  return [`your agent wants to call ${tool} (${approvalId.slice(0, 8)}): ${why}`, `  ${args}`];
}

const letItRun = "Let it run, this once? [y/N] ";

function isYes(said: string): boolean {
  return /^y(es)?$/i.test(said);
}

async function answer(
  session: Session,
  { argument, text, io, note }: Invocation,
  verdict: Verdict,
): Promise<Outcome> {
  const device = text("on");
  const known = await questions(session, device);
  if (!known.ok) return known;
  const meant = onlyOne(known.value, argument(0) ?? "");
  if (!meant.ok) return meant;
  const hash = text("hash");
  if (hash === undefined && verdict === "allow") {
    if (!io.interactive) {
      const message = `missing --hash: pixie approvals list --json shows the hash of the call`;
      return err({ type: "usage", message });
    }
    for (const line of callLines(meant.value)) note(line);
    if (!isYes(await io.ask(letItRun))) {
      return err({ type: "not-confirmed", message: "left as it is" });
    }
  }
  const { approvalId, hash: shown } = meant.value;
  const given = { approvalId, verdict, hash: hash ?? shown };
  const answered = await giveAnswer(session, given, device);
  if (!answered.ok) return answered;
  const state = verdict === "allow" ? "allowed" : "denied";
  return ok({ json: answered.value, lines: [approvalLine(meant.value, state)] });
}

async function giveAnswer(
  session: Session,
  given: { readonly approvalId: string; readonly verdict: Verdict; readonly hash: string },
  device: string | undefined,
): Promise<Result<unknown, DeviceError>> {
  if (device === undefined) return await session.call("answer-approval", given);
  const answered = await session.call("answer-device", { device, ...given });
  return answered.ok ? done(answered.value) : answered;
}

async function questions(
  session: Session,
  device: string | undefined,
): Promise<Result<readonly Question[], DeviceError>> {
  if (device === undefined) return await session.call("approvals", {});
  const there = await session.call("device-approvals", { device });
  if (!there.ok) return there;
  const looked = done(there.value);
  return looked.ok ? ok(looked.value.approvals) : looked;
}

/** An operation that is over as an answer, or as the refusal that it ended with. */
function done(view: DeviceOp): Result<DeviceOp, DeviceError> {
  const { state, reason, text } = view;
  return state === "done" ? ok(view) : err({ type: reason ?? state, message: text ?? state });
}

function onlyOne(approvals: readonly Question[], wanted: string): Result<Question, DeviceError> {
  const [meant, another] = approvals.filter(({ approvalId }) => approvalId.startsWith(wanted));
  if (meant === undefined) {
    const message = `no approval ${wanted} was asked for: see pixie approvals list`;
    return err({ type: "no-such-approval", message });
  }
  return another === undefined
    ? ok(meant)
    : err({ type: "ambiguous-approval", message: `several approvals begin with ${wanted}` });
}

/** Questions of this device, and of the turns that it asked other devices for. */
async function list(session: Session): Promise<Outcome> {
  const known = await session.call("approvals", {});
  if (!known.ok) return known;
  const asked = await session.call("homebase", {});
  if (!asked.ok) return asked;
  const elsewhere = asked.value.operations.filter(
    ({ direction, state }) => direction === "out" && state === "running",
  );
  return ok({
    json: [
      ...known.value.map((one) => ({ ...one, on: null })),
      ...elsewhere.flatMap(({ device, approvals }) =>
        approvals.map((one) => ({ ...one, state: "asked", on: device })),
      ),
    ],
    lines: [
      ...known.value.map((one) => approvalLine(one, one.state)),
      ...elsewhere.flatMap(({ device, deviceName, approvals }) =>
        approvals.map((one) => approvalLine(one, `asked on ${deviceName ?? device}`)),
      ),
    ],
    notes: elsewhere.flatMap((view) => untoldNotes(view, view.deviceName ?? view.device)),
  });
}

async function listOn(session: Session, device: string): Promise<Outcome> {
  const there = await session.call("device-approvals", { device });
  if (!there.ok) return there;
  const looked = done(there.value);
  if (!looked.ok) return looked;
  const { approvals } = looked.value;
  return ok({
    json: approvals.map((one) => ({ ...one, state: "asked", on: looked.value.device })),
    lines: approvals.map((one) => approvalLine(one, "asked")),
    notes: untoldNotes(looked.value, device),
  });
}

/** What is said of calls that are too long for a message. */
export function untoldNotes(
  { untoldApprovals }: Pick<DeviceOp, "untoldApprovals">,
  device: string,
): readonly string[] {
  if (untoldApprovals === 0) return [];
  return [`${device}: ${untoldApprovals} more, too long to be shown here: answer them there`];
}

function approvalLine({ approvalId, tool, args, why }: Question, state: string): string {
  return [approvalId.slice(0, 8), state, `${tool} ${args}`, `(${why})`].map(visibleLine).join("  ");
}
