/**
 * The operations about a device's questions to its owner: `list-approvals` shows what waits, `approve`
 * answers one from another own device. An answer names the hash of what was looked at and counts once.
 *
 * What a question is, and how long it waits, is in ../approvals.ts.
 * Spec: docs/protocol.md "Device control".
 */
import type { ApprovalView, DeviceAgent } from "../agent/port.ts";
import type { AskedApproval } from "./op.ts";
import type { OpKind, Outcome } from "./serve.ts";

/** The part of the agent that is asked. */
export type Approving = Pick<DeviceAgent, "approvals" | "answerApproval">;

/** Calls that wait for the owner, as another device is told of them; of one run, where one is named. */
export function waitingApprovals(agent: Approving, runId?: string): readonly AskedApproval[] {
  return agent
    .approvals()
    .filter((one) => one.state === "asked" && (runId === undefined || one.runId === runId))
    .map(toldApproval);
}

/** The kind of `list-approvals`. */
export function listApprovalsKind(agent: Approving): OpKind {
  return {
    lane: "look",
    acts: false,
    run: async () => ({ status: "done", approvals: waitingApprovals(agent) }),
  };
}

/** The kind of `approve`. */
export function approveKind(agent: Approving): OpKind {
  return {
    lane: undefined,
    acts: true,
    run: async ({ args, asker }) => {
      const [approvalId, verdict, hash] = ["approval", "verdict", "hash"].map((name) =>
        args.get(name),
      );
      if (typeof approvalId !== "string" || typeof hash !== "string") return malformed;
      if (verdict !== "allow" && verdict !== "deny") return malformed;
      const given = agent.answerApproval({ approvalId, verdict, hash, by: asker });
      if (!given.ok) {
        return { status: "refused", reason: given.error.type, text: given.error.message };
      }
      return { status: "done", text: `${given.value.tool}: ${given.value.state}` };
    },
  };
}

function toldApproval(approval: ApprovalView): AskedApproval {
  const { approvalId, tool, args, hash, why, expiresMs } = approval;
  return { approvalId, tool, args, hash, why, expiresMs };
}

const malformed: Outcome = {
  status: "refused",
  reason: "malformed-args",
  text: "expected an approval, a verdict (allow or deny) and the hash of the call",
};
