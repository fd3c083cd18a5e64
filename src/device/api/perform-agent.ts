/**
 * What the agent's operations do to a device; the other half of perform.ts.
 *
 * Spec: docs/operating.md "Local API".
 */
import { ok, type Result } from "../../shared/result.ts";
import type { AskOptions } from "../agent/port.ts";
import type { Device, DeviceError } from "../device.ts";
import type { Following } from "./agent-operations.ts";
import type { OperationName, ParamsOf, ResultOf } from "./operations.ts";
import { toWire, type Wire } from "./views.ts";

/** Operations that are the agent's. */
export type AgentOperation = Extract<
  OperationName,
  | "ask"
  | "approve"
  | "rehearse"
  | "approvals"
  | "answer-approval"
  | "start-chat"
  | "chats"
  | "runs"
  | "run"
  | "alignment"
  | `align-${string}`
>;

/** The handlers over one device. */
export type AgentHandlers = {
  readonly [Name in AgentOperation]: (
    params: ParamsOf<Name>,
    following?: Following,
  ) => Promise<Result<ResultOf<Name>, DeviceError>>;
};

/** Builds them. */
export function agentHandlers({ agent }: Device): AgentHandlers {
  return {
    ask: async ({ question, ...options }, following) =>
      wired(await agent.ask(question, { ...options, ...askOptions(following) })),
    approve: async ({ runId, ...options }, following) =>
      wired(await agent.approve(runId, { ...options, ...askOptions(following) })),
    approvals: async () => ok(toWire(agent.approvals())),
    "answer-approval": async (answer) => wired(agent.answerApproval(answer)),
    "start-chat": async () => ok({ chatId: agent.startChat() }),
    chats: async () => ok(toWire(agent.chats())),
    rehearse: async ({ question }, following) =>
      wired(await agent.ask(question, { ...askOptions(following), rehearse: true })),
    runs: async () => ok(toWire(agent.runs())),
    run: async ({ runId }) => wired(agent.run(runId)),
    alignment: async () => ok(toWire(agent.alignment())),
    "align-price": async () => ok(toWire(await agent.price())),
    "align-select": async ({ ids }) => done(agent.select(ids)),
    "align-instructions": async ({ text }) => done(agent.setInstructions(text ?? undefined)),
    "align-harness": async ({ harness }) => {
      agent.setHarness(harness);
      return ok({});
    },
    "align-blurbs": async ({ ids }) => done(agent.setBlurbs(ids)),
  };
}

function askOptions({ signal, onProgress }: Following = {}): AskOptions {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined
      ? {}
      : { onEvent: onProgress, onQueued: (ahead) => onProgress({ type: "queued", ahead }) }),
  };
}

function wired<T>(result: Result<T, DeviceError>): Result<Wire<T>, DeviceError> {
  return result.ok ? ok(toWire(result.value)) : result;
}

function done(result: Result<undefined, DeviceError>): Result<object, DeviceError> {
  return result.ok ? ok({}) : result;
}
