/**
 * `pixie ask --on <device>` and `pixie homebase list`: questions to another of one's devices.
 *
 * Spec: docs/agent.md "Asking from another device".
 */
import type { Command } from "commander";

import { ok } from "../../shared/result.ts";
import type { Progress } from "../api/agent-operations.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import { askAboutCall, callLines, untoldNotes } from "./approval-commands.ts";
import { addCommand, type CliParts, type Invocation, type Outcome } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { visibleLine, visibleText } from "./visible.ts";

type OpView = ResultOf<"ask-device">;

/** Adds `homebase`. */
export function registerHomebaseGroup(program: Command, parts: CliParts): void {
  const group = program
    .command("homebase")
    .description("what your devices asked of each other, and what became of it");
  addCommand(group, parts, {
    usage: "list",
    about: "list what was asked of this device and by it, oldest first",
    examples: ["pixie homebase list", "pixie homebase list --json"],
    run: ({ withSession }) => withSession({ connect: true }, list),
  });
}

/** Asks the agent of another device, and makes its answer the outcome. */
export async function askOn(
  { io, note }: Invocation,
  session: Session,
  asked: { readonly device: string; readonly question: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const { device } = asked;
  const seen = new Set<string>();
  const questions: Promise<void>[] = [];
  let said = "";
  const onProgress = (progress: Progress): void => {
    if (progress.type !== "device-state") return;
    const { state, ahead } = progress;
    const line = `${device}: ${state}${ahead > 0 ? `, ${ahead} ahead` : ""}`;
    if ((state === "accepted" || state === "running") && line !== said) note((said = line));
    for (const untold of untoldNotes(progress, device)) note(untold);
    for (const question of progress.approvals) {
      if (seen.has(question.approvalId)) continue;
      seen.add(question.approvalId);
      const { ask } = io;
      if (io.interactive) {
        questions.push(askAboutCall(session, { question, device }, { ask, note }));
        continue;
      }
      for (const shown of callLines(question)) note(shown);
      const { approvalId, hash } = question;
      const answerIt = `pixie approvals allow ${approvalId.slice(0, 8)} --on ${device} --hash ${hash}`;
      note(`answer it within 30 minutes, here or on any of your devices: ${answerIt}`);
    }
  };
  const answer = await session.call("ask-device", asked, { signal, onProgress });
  await Promise.all(questions);
  if (!answer.ok) return answer;
  const { state, text, reason } = answer.value;
  const done = state === "done";
  const lines = text === null ? [] : visibleText(text).split("\n");
  return ok({
    json: answer.value,
    lines: done ? lines : [],
    notes: done
      ? []
      : [`${asked.device}: ${state}${reason === null ? "" : ` (${reason})`}`, ...lines],
    exitCode: done ? exitCodes.ok : exitCodes.refused,
  });
}

async function list(session: Session): Promise<Outcome> {
  const listed = await session.call("homebase", {});
  if (!listed.ok) return listed;
  const { operations, foreignTexts } = listed.value;
  return ok({
    json: listed.value,
    lines: operations.map(opLine),
    notes: [
      ...(operations.length === 0 ? ["nothing was asked between your devices"] : []),
      ...(foreignTexts === 0
        ? []
        : [`${foreignTexts} messages looked like device control and acted as nothing`]),
    ],
  });
}

function opLine({ opId, direction, device, deviceName, op, about, state, sentMs }: OpView): string {
  const time = new Date(sentMs).toISOString().slice(0, 16).replace("T", " ");
  const whom = `${direction === "in" ? "from" : "to"} ${deviceName ?? device}`;
  return visibleLine(`${opId.slice(0, 8)}  ${time}Z  ${op} ${whom}  ${state}  ${about}`.trimEnd());
}
