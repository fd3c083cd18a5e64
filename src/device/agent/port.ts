/**
 * What the device's contract says about its agent: asking it, what it did, and what it is told. Types
 * only; assistant.ts builds one.
 *
 * Spec: docs/agent.md.
 */
import type { Result } from "../../shared/result.ts";
import type { BlurbId } from "./alignment.ts";
import type { AgentEvent, Harness, Mode } from "./events.ts";
import type { PricedPart } from "./price.ts";

/** What a person got wrong, or what is not there. */
export interface AgentError {
  readonly type: string;
  readonly message: string;
}

/** A stored turn, without its trace. */
export interface RunView {
  readonly runId: string;
  readonly startedMs: number;
  readonly question: string;
  /** How the turn stopped; `approved` for a proposal that was carried out since. */
  readonly stopReason: string;
  /** The chat that it belongs to. */
  readonly chatId: string | undefined;
}

/** A chat: turns that are told of each other. */
export interface ChatView {
  readonly chatId: string;
  /** Its first question. */
  readonly question: string;
  readonly turns: number;
  readonly lastMs: number;
}

/** The document that the brain reads before it plans, and the choices that make it. */
export interface AlignmentView {
  readonly harness: Harness;
  /** Exactly the bytes. */
  readonly document: string;
  /** Without a tokenizer an estimate: code points divided by four. */
  readonly tokens: number;
  readonly tokensAreExact: boolean;
  readonly instructions: string;
  readonly instructionsAreDefault: boolean;
  readonly blurbs: readonly { readonly id: BlurbId; readonly on: boolean; readonly text: string }[];
  /** Skills on the menu. None: no planning. */
  readonly selected: readonly string[];
}

/** The price of the document, part by part. */
export interface PriceView {
  readonly brain: string;
  /** Counted by the brain's tokenizer; else an estimate. */
  readonly exact: boolean;
  /** Of the whole document. Units: tokens. */
  readonly tokens: number;
  /** What the brain reads at once; absent where nothing bounds it. Units: tokens. */
  readonly contextTokens: number | undefined;
  readonly parts: readonly PricedPart[];
}

/** How a question is to be treated. */
export interface AskOptions {
  /** Plans and binds, and runs nothing. Not stored. */
  readonly rehearse?: boolean;
  /** `agent` where nothing else is said. */
  readonly mode?: Mode;
  /** The chat that the question belongs to. Absent: it stands for itself. */
  readonly chatId?: string;
  /** `deny`: nobody can be asked, so calls that need an approval are refused at once. */
  readonly approvals?: "wait" | "deny";
  readonly signal?: AbortSignal;
  /** Hears every event as it happens. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Hears how many questions are ahead, whenever that changes while this one waits. */
  readonly onQueued?: (ahead: number) => void;
}

/** A call that the owner was asked about. */
export interface ApprovalView {
  readonly approvalId: string;
  readonly runId: string;
  readonly tool: string;
  /** JSON of the arguments, as they would be passed. */
  readonly args: string;
  /** Over tool and arguments. */
  readonly hash: string;
  readonly why: string;
  readonly askedMs: number;
  readonly expiresMs: number;
  /** `withdrawn`: the turn that asked is gone. */
  readonly state: "asked" | "allowed" | "denied" | "expired" | "withdrawn";
  readonly answeredMs: number | undefined;
  /** Id of the sibling that answered; empty for this device. */
  readonly answeredBy: string | undefined;
}

/** What the owner says to a question. */
export interface ApprovalAnswer {
  /** The id, or the beginning of it. */
  readonly approvalId: string;
  readonly verdict: "allow" | "deny";
  /** The hash of what was looked at. */
  readonly hash: string;
  /** The sibling that answers; absent for this device. */
  readonly by?: string;
}

/** The agent of this device. */
export interface DeviceAgent {
  /**
   * One turn. Returns its trace, which is stored. Questions wait for each other. Errors: an empty or
   * too long question; `asks-full`; `ask-stopped` when it was taken back while it waited.
   */
  readonly ask: (
    question: string,
    options?: AskOptions,
  ) => Promise<Result<readonly AgentEvent[], AgentError>>;
  /**
   * Carries out a plan or a goal that was proposed, once. Errors: no such run, no proposal, already
   * carried out.
   */
  readonly approve: (
    runId: string,
    options?: AskOptions,
  ) => Promise<Result<readonly AgentEvent[], AgentError>>;
  /** A fresh id for a chat. Nothing is stored before its first turn. */
  readonly startChat: () => string;
  /** The newest chats, the one that went on last at the end. */
  readonly chats: () => readonly ChatView[];
  /** The newest turns, oldest of them first. */
  readonly runs: () => readonly RunView[];
  /** A stored trace by its id or the beginning of it. */
  readonly run: (runId: string) => Result<readonly AgentEvent[], AgentError>;
  readonly alignment: () => AlignmentView;
  /** What the document costs the brain that is in use, which is loaded for it. */
  readonly price: () => Promise<PriceView>;
  /** Puts exactly these skills on the menu. Errors: one of them does not exist. */
  readonly select: (ids: readonly string[]) => Result<undefined, AgentError>;
  /** Replaces the base instructions; `undefined` resets them. */
  readonly setInstructions: (text: string | undefined) => Result<undefined, AgentError>;
  /** Turns exactly these blurbs on. Errors: one that does not exist. */
  readonly setBlurbs: (ids: readonly string[]) => Result<undefined, AgentError>;
  /** Calls that the owner was asked about, oldest first. */
  readonly approvals: () => readonly ApprovalView[];
  /**
   * Answers one that waits. Errors: none of that id, `already-answered`, `approval-outdated` for
   * another hash.
   */
  readonly answerApproval: (answer: ApprovalAnswer) => Result<ApprovalView, AgentError>;
  /** Chooses how turns go from now on. */
  readonly setHarness: (harness: Harness) => void;
}
