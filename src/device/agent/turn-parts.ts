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
import type { AgentEvent, StopReason } from "./events.ts";

/** What a turn may use up. */
export interface Limits {
  /** Calls that a turn may make, refused ones included. */
  readonly steps: number;
  /** Units: ms. */
  readonly wallMs: number;
}

/** What every turn of a device is made with. */
export interface TurnParts {
  readonly model: Model;
  readonly tools: ToolBox;
  readonly clock: Clock;
  /** IANA name of the asker's zone. */
  readonly zone: string;
  readonly limits: Limits;
}

/** One question, and the state of the device that it is asked in. */
export interface TurnRequest {
  readonly runId: string;
  /** As it was typed; `/skill-id rest` names the skill to follow. */
  readonly question: string;
  readonly registry: Registry;
  readonly alignment: Alignment;
  /** Tools that imported skills may not reach before the owner was asked. */
  readonly withhold: Withhold;
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
  readonly emit: (event: AgentEvent) => void;
}
