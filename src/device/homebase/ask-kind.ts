/**
 * The operation `ask`: a turn of this device's agent for another own device. The asker hears that it
 * was accepted, that it runs, which calls wait for the owner's word meanwhile, and how it ended.
 *
 * Spec: docs/protocol.md "Device control"; docs/agent.md "Asking from another device".
 */
import { type AgentEvent, answerOf, stopOf } from "../agent/events.ts";
import type { Result } from "../../shared/result.ts";
import type { AskedApproval } from "./op.ts";
import type { OpKind, Outcome } from "./serve.ts";

/** Asks the agent of this device. */
export type AskAgent = (
  question: string,
  options: {
    readonly signal: AbortSignal;
    readonly onEvent: (event: AgentEvent) => void;
    readonly onQueued: (ahead: number) => void;
  },
) => Promise<Result<readonly AgentEvent[], { readonly type: string; readonly message: string }>>;

/** Calls of a run that wait for the owner. */
export type ApprovalsOf = (runId: string) => readonly AskedApproval[];

/** Builds the kind. */
export function askKind(askAgent: AskAgent, approvalsOf: ApprovalsOf): OpKind {
  return {
    lane: undefined,
    acts: true,
    run: async ({ args, signal, tell }) => {
      const question = args.get("question");
      if (typeof question !== "string") {
        return { status: "refused", reason: "malformed-args", text: "expected a question" };
      }
      let isTold = false;
      const accepted = (ahead: number): void => {
        // One word about the line is enough: every one costs an envelope.
        if (!isTold) tell({ status: "accepted", ahead });
        isTold = true;
      };
      let runId = "";
      const asked = askAgent(question, {
        signal,
        onQueued: accepted,
        onEvent: (event) => {
          if (event.type === "turn-started") runId = event.runId;
          else if (event.type !== "approval") return;
          const approvals = approvalsOf(runId);
          tell({ status: "running", ...(approvals.length === 0 ? {} : { approvals }) });
        },
      });
      accepted(0);
      const events = await asked;
      return events.ok ? outcomeOf(events.value) : refusalOf(events.error);
    },
  };
}

function outcomeOf(events: readonly AgentEvent[]): Outcome {
  const stop = stopOf(events);
  const answer = answerOf(events);
  const runId = events.find((event) => event.type === "turn-started")?.runId;
  const common = {
    ...(runId === undefined ? {} : { runId }),
    ...(stop === undefined ? {} : { reason: stop.reason }),
    ...(events.some((event) => event.type === "tool-result" && event.untrusted)
      ? { untrusted: true }
      : {}),
  };
  if (stop?.reason === "aborted") return { ...common, status: "cancelled", text: stop.detail };
  if (answer !== undefined) return { ...common, status: "done", text: answer };
  return { ...common, status: "failed", text: stop?.detail ?? "the turn ended without an answer" };
}

function refusalOf({
  type,
  message,
}: {
  readonly type: string;
  readonly message: string;
}): Outcome {
  if (type === "ask-stopped") return { status: "cancelled", text: message };
  return { status: "refused", reason: type, text: message };
}
