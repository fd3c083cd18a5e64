/**
 * What a turn is made of: the parts that a device has, the question with the state it is asked in,
 * and where a turn stands. Types only; turn.ts and execute.ts carry a turn on.
 *
 * Spec: docs/agent.md "One turn".
 */
import type { Clock } from "../../shared/clock.ts";
import type { Model } from "../model/port.ts";
import type { Withhold } from "../skills/expand.ts";
import type { Registry } from "../skills/registry.ts";
import type { ToolBox } from "../tools/tool.ts";
import type { Alignment } from "./alignment.ts";
import type { Callable } from "./callable.ts";
import type { AgentEvent, Harness, Mode, StopReason } from "./events.ts";
import type { History } from "./history.ts";
import type { Spending } from "./spending.ts";

/** What a turn may use up. */
export interface Limits {
  /** Calls that a turn may make, refused ones included. */
  readonly steps: number;
  /** Tokens that a turn evaluates and generates, as its brain counts them. */
  readonly tokens: number;
  /** Time that a turn takes, without waiting for the owner. Units: ms. */
  readonly wallMs: number;
}

/** A call that the owner is asked about. */
export interface ApprovalRequest {
  readonly runId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  readonly why: string;
}

/** What the owner said, or what it means that nobody did. */
export type ApprovalVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string };

/** Reaches the owner. Resolves at the latest when the signal aborts. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict>;

/** A plan that may be followed. */
export interface Plan {
  readonly sentence: string;
  /** Handles that it may name. */
  readonly handles: readonly string[];
  /** Handles that it named and may not. */
  readonly dropped: readonly string[];
}

/** What every turn of a device is made with. */
export interface TurnParts {
  readonly model: Model;
  readonly tools: ToolBox;
  readonly clock: Clock;
  /** IANA name of the asker's zone. */
  readonly zone: string;
  readonly limits: Limits;
  /** Asks the owner about a call. */
  readonly approver: Approver;
}

/** One question, and the state of the device that it is asked in. */
export interface TurnRequest {
  readonly runId: string;
  /** As it was typed; `/skill-id rest` names the skill to follow. */
  readonly question: string;
  readonly mode: Mode;
  readonly harness: Harness;
  readonly registry: Registry;
  readonly alignment: Alignment;
  /** Tools that imported skills may not reach before the owner was asked. */
  readonly withhold: Withhold;
  /** Tools of MCP servers that are not denied. */
  readonly onDemand: readonly Callable[];
  readonly history: History;
  /** A plan that the owner approved: it is followed as it is. */
  readonly approved?: Plan;
  /** Ends after binding: nothing runs. */
  readonly rehearse: boolean;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Ends the turn: what `stopped` says. */
export interface Ending {
  readonly reason: StopReason;
  readonly detail: string;
}

/** Where a turn is, for the stages that carry it on. */
export interface Turn {
  readonly parts: TurnParts;
  readonly request: TurnRequest;
  /** The question without the name of an invoked skill. */
  readonly question: string;
  /** Aborts by the caller, or when the time is up. */
  readonly signal: AbortSignal;
  /** Stops the turn's time until the returned function is called. */
  readonly pause: () => () => void;
  readonly spending: Spending;
  readonly emit: (event: AgentEvent) => void;
}
