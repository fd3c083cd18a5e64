/**
 * What happens in a turn, as one closed union: it drives the command line and the local API, and the
 * list of a turn's events is its stored trace, from which the run can be shown again.
 *
 * Every trace begins with `turn-started` and ends with exactly one `stopped`.
 * Spec: docs/agent.md "Events".
 */

/** Why a turn ended. */
export type StopReason =
  | "answered"
  /** The owner is asked which skill is meant. */
  | "unsure"
  /** A rehearsal, which ends before anything runs. */
  | "rehearsed"
  | "steps"
  | "repeated-call"
  | "wall-clock"
  | "aborted"
  | "model-failed";

/** One thing that happened. */
export type AgentEvent =
  | {
      readonly type: "turn-started";
      readonly runId: string;
      /** As it was typed. */
      readonly question: string;
      readonly brain: string;
      /** Units: ms since 1970 UTC. */
      readonly atMs: number;
    }
  | { readonly type: "path-chosen"; readonly path: "direct" | "planned"; readonly reason: string }
  | {
      readonly type: "plan";
      readonly sentence: string;
      /** Handles that the plan may name, in its order. */
      readonly handles: readonly string[];
      /** Handles that it named and may not. */
      readonly dropped: readonly string[];
    }
  | {
      readonly type: "bound";
      /** Tool names: nothing else can be called in this turn. */
      readonly tools: readonly string[];
      /** Skills whose bodies are followed. */
      readonly skills: readonly string[];
      /** Mentions that expand to nothing here. */
      readonly unavailable: readonly string[];
    }
  | {
      readonly type: "tool-call";
      readonly step: number;
      readonly tool: string;
      readonly args: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "tool-result";
      readonly step: number;
      readonly tool: string;
      readonly ok: boolean;
      readonly text: string;
      readonly untrusted: boolean;
    }
  | { readonly type: "token"; readonly text: string }
  | { readonly type: "answer"; readonly text: string }
  | {
      readonly type: "stopped";
      readonly reason: StopReason;
      /** What was done and what was not. */
      readonly detail: string;
    };

/** The answer of a trace, if it has one. */
export function answerOf(events: readonly AgentEvent[]): string | undefined {
  return events.findLast((event) => event.type === "answer")?.text;
}

/** How a trace ended. `undefined` while the turn runs. */
export function stopOf(
  events: readonly AgentEvent[],
): Extract<AgentEvent, { readonly type: "stopped" }> | undefined {
  return events.findLast((event) => event.type === "stopped");
}
