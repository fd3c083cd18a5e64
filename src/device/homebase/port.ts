/**
 * What the device's contract says about the homebase: asking another of one's devices, and what was
 * asked. Types only; homebase.ts builds one.
 *
 * Spec: docs/agent.md "Asking from another device".
 */
import type { Result } from "../../shared/result.ts";
import type { AskedApproval } from "./op.ts";

/** What a person got wrong, or why nothing was asked. */
export interface HomebaseError {
  readonly type: string;
  readonly message: string;
}

/** One operation between two of the owner's devices. */
export interface HomebaseOpView {
  readonly opId: string;
  /** `in`: asked of this device; `out`: asked by it. */
  readonly direction: "in" | "out";
  /** The other device: its id, and its name where it is known. */
  readonly device: string;
  readonly deviceName: string | undefined;
  readonly op: string;
  /** What was asked, e.g. the question. */
  readonly about: string;
  readonly state:
    | "waiting"
    | "accepted"
    | "running"
    | "done"
    | "failed"
    | "refused"
    | "expired"
    | "interrupted"
    | "cancelled"
    | "dead";
  readonly sentMs: number;
  readonly attempts: number;
  /** The answer, or why there is none. */
  readonly text: string | undefined;
  readonly reason: string | undefined;
  readonly untrusted: boolean;
  /** Questions ahead there, while it waits. */
  readonly ahead: number | undefined;
  /** Calls that wait there for the owner's word. */
  readonly approvals: readonly AskedApproval[];
  /** How many more wait there that are too long to be told: they are answered there. */
  readonly untoldApprovals: number;
}

/** An answer to a call that another device asks about. */
export interface RemoteApproval {
  /** The id, or the beginning of it. */
  readonly approvalId: string;
  readonly verdict: "allow" | "deny";
  /** The hash of what was looked at. */
  readonly hash: string;
}

/** How an operation is followed. */
export interface HomebaseFollowing {
  /** Aborting takes the question back, also on the other device. */
  readonly signal?: AbortSignal;
  readonly onStatus?: (view: HomebaseOpView) => void;
  /** How long to wait for the end. Units: ms. */
  readonly patienceMs?: number;
}

/** Asking, and being asked by, the owner's other devices. */
export interface DeviceHomebase {
  /** From now on this device carries out what its siblings ask. For a process that stays. */
  readonly serve: () => void;
  /**
   * Asks the agent of another device (name or id) and waits for the end. Errors: no such device;
   * `ask-stopped`; `not-answered-yet` when the patience is over, and the answer still may come.
   */
  readonly ask: (
    device: string,
    question: string,
    following?: HomebaseFollowing,
  ) => Promise<Result<HomebaseOpView, HomebaseError>>;
  /** What waits for the owner's word on another device: an operation with its approvals. */
  readonly approvals: (device: string) => Promise<Result<HomebaseOpView, HomebaseError>>;
  /**
   * Answers one of them. Errors: no such device; `not-answered-yet`. The other device's own refusal is
   * the operation's reason: `already-answered`, `approval-outdated`, `no-such-approval`.
   */
  readonly answerApproval: (
    device: string,
    answer: RemoteApproval,
  ) => Promise<Result<HomebaseOpView, HomebaseError>>;
  /** The newest operations, oldest of them first, and how many texts of others looked like one. */
  readonly list: () => {
    readonly operations: readonly HomebaseOpView[];
    readonly foreignTexts: number;
  };
}
