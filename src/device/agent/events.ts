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
  /** A plan or a goal, which waits for the owner's approval. */
  | "proposed"
  | "steps"
  | "tokens"
  | "repeated-call"
  | "wall-clock"
  | "aborted"
  | "menu-too-large"
  | "model-failed";

/** What a turn may do: act, or propose a plan, or restate the goal. Only `agent` calls anything. */
export type Mode = "agent" | "plan" | "goal";

/** How a turn goes: a plan first and a closed binding, or a loop that loads skills as it goes. */
export type Harness = "planned" | "resident";

/** One thing that happened. */
export type AgentEvent =
  | {
      readonly type: "turn-started";
      readonly runId: string;
      /** As it was typed. */
      readonly question: string;
      readonly brain: string;
      readonly mode: Mode;
      readonly harness: Harness;
      /** Earlier exchanges of the chat that the brain is told. */
      readonly earlier: number;
      /** They hold words of others. */
      readonly tainted: boolean;
      /** Units: ms since 1970 UTC. */
      readonly atMs: number;
    }
  | {
      readonly type: "path-chosen";
      readonly path: "direct" | "planned" | "resident";
      readonly reason: string;
    }
  /** Something that the owner should know and that changes nothing by itself. */
  | { readonly type: "notice"; readonly text: string }
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
      /** Tools of the agent itself, e.g. `CallTool`. */
      readonly core: readonly string[];
      /** Tool names: nothing else can be called until another `bound`. */
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
  /** The owner is asked about the call before it, and what came of that. */
  | {
      readonly type: "approval";
      readonly step: number;
      readonly state: "asked" | "allowed" | "denied";
      readonly reason: string;
    }
  | {
      readonly type: "tool-result";
      readonly step: number;
      readonly tool: string;
      readonly ok: boolean;
      readonly text: string;
      readonly untrusted: boolean;
    }
  /** On-demand tools that `ToolSearch` found: callable from here on, in later turns of a chat, too. */
  | { readonly type: "activated"; readonly tools: readonly string[] }
  /** A piece of the answer while it is made. Not in a stored trace: the answer is. */
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
