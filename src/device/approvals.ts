/**
 * Approvals of calls: a question is stored, told to whoever listens, and waits. Any of the owner's
 * devices may answer it, once, by naming the hash of exactly that tool with exactly those arguments;
 * after 30 minutes nobody has, and the call is denied.
 *
 * How an answer gets here is the edge's: a terminal, the local API, or a sibling's message. When a call
 * asks is decided in agent/consent.ts. Spec: docs/agent.md "Approvals".
 */
import { createHash } from "node:crypto";

import type { Clock } from "../shared/clock.ts";
import { typeableId } from "../shared/ids.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Rng } from "../shared/rng.ts";
import { callKey } from "./agent/call-tool.ts";
import type { AgentError, ApprovalAnswer, ApprovalView } from "./agent/port.ts";
import type { ApprovalRequest, ApprovalVerdict, Approver } from "./agent/turn-parts.ts";
import {
  addApproval,
  type ApprovalRow,
  approvalsById,
  endApproval,
  listApprovals,
  withdrawApprovals,
} from "./store/approvals.ts";
import type { DeviceStore } from "./store/sqlite.ts";

/** What approvals are made of. */
export interface ApprovalParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Told once a question is stored. */
  readonly emit: (event: { readonly type: "approval"; readonly approvalId: string }) => void;
}

/** Questions to the owner. */
export interface Approvals {
  readonly approver: Approver;
  /** The newest questions, oldest of them first. */
  readonly list: () => readonly ApprovalView[];
  /** Answers one. Errors: none of that id, answered or ended already, another hash. */
  readonly answer: (answer: ApprovalAnswer) => Result<ApprovalView, AgentError>;
}

/** How long a question waits. Units: ms. */
const patienceMs = 1_800_000;
const listed = 100;

/** Opens them. What an earlier process asked waits for nobody any more and is withdrawn. */
export function createApprovals({ store, clock, rng, emit }: ApprovalParts): Approvals {
  store.write(withdrawApprovals);
  const waiting = new Map<string, (verdict: ApprovalVerdict) => void>();
  const settle = (approvalId: string, verdict: ApprovalVerdict): void => {
    const resolve = waiting.get(approvalId);
    waiting.delete(approvalId);
    resolve?.(verdict);
  };
  const end = (approvalId: string, state: ApprovalRow["state"], reason: string): void => {
    store.write((tx) => endApproval(tx, approvalId, { state, answeredMs: null, answeredBy: null }));
    settle(approvalId, { allowed: false, reason });
  };
  const approver: Approver = async (request, signal) => {
    const approvalId = typeableId(rng);
    const answered = new Promise<ApprovalVerdict>((resolve) => waiting.set(approvalId, resolve));
    store.write((tx) => {
      addApproval(tx, asked(request, approvalId, clock.nowMs()));
      tx.afterCommit(() => emit({ type: "approval", approvalId }));
    });
    const withdraw = (): void => end(approvalId, "withdrawn", "the turn was stopped");
    const cancel = clock.schedule(patienceMs, () =>
      end(approvalId, "expired", "nobody answered within 30 minutes"),
    );
    if (signal.aborted) withdraw();
    else signal.addEventListener("abort", withdraw, { once: true });
    const verdict = await answered;
    cancel();
    signal.removeEventListener("abort", withdraw);
    return verdict;
  };
  const answer: Approvals["answer"] = ({ approvalId, verdict, hash, by }) => {
    const given = store.write((tx) => {
      const found = waitingRow(approvalsById(tx, approvalId), approvalId, hash);
      if (!found.ok) return found;
      const state = verdict === "allow" ? "allowed" : "denied";
      const ending = { state, answeredMs: clock.nowMs(), answeredBy: by ?? "" } as const;
      endApproval(tx, found.value.approvalId, ending);
      return ok({ ...found.value, ...ending });
    });
    if (!given.ok) return given;
    const allowed = given.value.state === "allowed";
    settle(
      given.value.approvalId,
      allowed ? { allowed } : { allowed, reason: "the owner said no" },
    );
    return ok(viewOf(given.value));
  };
  return {
    approver,
    list: () => store.read((tx) => listApprovals(tx, listed).map(viewOf)),
    answer,
  };
}

function asked(
  { runId, tool, args, why }: ApprovalRequest,
  approvalId: string,
  nowMs: number,
): ApprovalRow {
  return {
    approvalId,
    runId,
    tool,
    args: JSON.stringify(args),
    hash: createHash("sha256").update(callKey(tool, args)).digest("base64url"),
    why,
    askedMs: nowMs,
    expiresMs: nowMs + patienceMs,
    state: "asked",
    answeredMs: null,
    answeredBy: null,
  };
}

function waitingRow(
  found: readonly ApprovalRow[],
  wanted: string,
  hash: string,
): Result<ApprovalRow, AgentError> {
  const [row, another] = found;
  if (row === undefined) {
    const message = `no approval ${wanted} was asked for: see pixie approvals list`;
    return err({ type: "no-such-approval", message });
  }
  if (another !== undefined) {
    const message = `several approvals begin with ${wanted}: give more of it`;
    return err({ type: "ambiguous-approval", message });
  }
  if (row.state !== "asked") {
    const message = `${wanted} is ${row.state} already: an approval is answered once`;
    return err({ type: "already-answered", message });
  }
  if (row.hash !== hash) {
    const message = `${wanted} asks for another call than the one that was answered: look at it again`;
    return err({ type: "approval-outdated", message });
  }
  return ok(row);
}

function viewOf(row: ApprovalRow): ApprovalView {
  const { answeredMs, answeredBy, ...rest } = row;
  return {
    ...rest,
    answeredMs: answeredMs ?? undefined,
    answeredBy: answeredBy ?? undefined,
  };
}
