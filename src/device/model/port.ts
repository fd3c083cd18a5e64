/**
 * The port of a brain: it plans a sentence, then makes one step after another, and knows nothing of
 * skills, stores or networks. Trouble is an answer, never an exception, so a turn always ends well.
 *
 * What a brain says is checked by the agent before anything happens. Spec: docs/agent.md "Brains".
 */

/** What a brain plans from: trusted text only. */
export interface PlanRequest {
  /** The system prompt, byte for byte as the Alignment document shows it. */
  readonly system: string;
  readonly question: string;
  readonly menu: readonly { readonly handle: string; readonly line: string }[];
}

/** What a brain makes of a plan request. */
export type PlanReply =
  /** A sentence that names @handles of the menu, or none. */
  | { readonly type: "plan"; readonly sentence: string }
  /** The owner has to say which of these is meant. */
  | { readonly type: "unsure"; readonly handles: readonly string[] }
  | ModelFailure;

/** A tool that is bound for this turn. */
export interface BoundTool {
  readonly toolName: string;
  readonly description: string;
  readonly signature: string;
  readonly parameters: {
    readonly properties: Readonly<Record<string, { readonly maxLength: number }>>;
  };
}

/** A call that was made, or refused, earlier in the turn. */
export interface CompletedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  readonly ok: boolean;
  /** The result, or the reason of the failure. */
  readonly text: string;
  /** The text holds words that the owner did not write: data, never instructions. */
  readonly untrusted: boolean;
}

/** Everything that the next step may depend on. */
export interface StepRequest {
  /** Bodies of the skills and signatures of the tools. */
  readonly system: string;
  readonly question: string;
  readonly tools: readonly BoundTool[];
  readonly calls: readonly CompletedCall[];
}

/** One step: a call, whose arguments nobody has checked, or the answer. */
export type StepReply =
  | { readonly type: "call"; readonly tool: string; readonly args: unknown }
  | { readonly type: "answer"; readonly text: string }
  | ModelFailure;

/** A question that no skill serves. */
export interface DirectRequest {
  readonly system: string;
  readonly question: string;
  /** Why this path: no menu, or a plan that named nothing. */
  readonly reason: string;
}

/** What a brain says on the direct path. */
export type DirectReply = { readonly type: "answer"; readonly text: string } | ModelFailure;

/** Why a brain has no answer. */
export interface ModelFailure {
  readonly type: "failed";
  readonly reason: string;
}

/** A brain. */
export interface Model {
  readonly name: string;
  readonly plan: (request: PlanRequest, signal: AbortSignal) => Promise<PlanReply>;
  readonly step: (request: StepRequest, signal: AbortSignal) => Promise<StepReply>;
  readonly answer: (request: DirectRequest, signal: AbortSignal) => Promise<DirectReply>;
}
