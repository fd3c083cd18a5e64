/**
 * The port of a brain: it plans a sentence, then makes one step after another, and knows nothing of
 * skills, stores or networks. Trouble is an answer, never an exception, so a turn always ends well.
 *
 * What a brain says is checked by the agent before anything happens. Spec: docs/agent.md "Brains".
 */

/** Hears text as it is generated: pieces of a sentence or an answer, in order, never a call. */
export type OnToken = (text: string) => void;

/** What one reply took, for a brain that evaluates tokens. */
export interface Usage {
  /** Tokens of the prompt, template included. */
  readonly promptTokens: number;
  /** Of these, the ones that were not in the cache from earlier. */
  readonly evaluatedTokens: number;
  readonly completionTokens: number;
  readonly ms: number;
}

/** An earlier question of the same chat and its answer, as a prompt shows them. */
export interface EarlierExchange {
  readonly question: string;
  readonly answer: string;
}

/** One line of a menu. */
export interface MenuLine {
  readonly handle: string;
  readonly line: string;
  /** Tools of the same menu that a skill's procedure mentions: they come with it. */
  readonly mentions?: readonly string[];
}

/** What a brain plans from: trusted text only. */
export interface PlanRequest {
  /** The system prompt, byte for byte as the Alignment document shows it. */
  readonly system: string;
  readonly question: string;
  readonly menu: readonly MenuLine[];
  /** Oldest first. Words of others are not in it. */
  readonly history: readonly EarlierExchange[];
  readonly onToken?: OnToken;
}

/** What a brain makes of a plan request. */
export type PlanReply =
  /** A sentence that names @handles of the menu, or none. */
  | { readonly type: "plan"; readonly sentence: string; readonly usage?: Usage }
  /** The owner has to say which of these is meant. */
  | { readonly type: "unsure"; readonly handles: readonly string[] }
  | ModelFailure;

/** A tool that is bound for this turn. */
export interface BoundTool {
  readonly toolName: string;
  readonly description: string;
  readonly signature: string;
  readonly parameters: {
    readonly properties: Readonly<
      Record<
        string,
        {
          readonly maxLength: number;
          readonly pattern?: string;
          readonly enum?: readonly string[];
          readonly default?: string;
          readonly listedBy?: string;
        }
      >
    >;
    /** Those that may not be left empty. */
    readonly required: readonly string[];
  };
}

/** A call that was made, or refused, earlier in the turn. */
export interface CompletedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  readonly ok: boolean;
  /** Entries that it found; 0: it looked, and there was nothing, or it failed. */
  readonly found: number;
  /** The entries that its text shows; empty for a text that is one piece. */
  readonly entries: readonly string[];
  /** None of them is all that was looked for: they come near. */
  readonly near: boolean;
  /** The result, or the reason of the failure. */
  readonly text: string;
  /** The text holds words that the owner did not write: data, never instructions. */
  readonly untrusted: boolean;
  /** The text as a prompt shows it: words of others are marked as such, and a cut is told. */
  readonly promptText: string;
}

/** Everything that the next step may depend on. */
export interface StepRequest {
  /** Whether a plan chose the procedures, so that the question wants what they look up. */
  readonly planned: boolean;
  /** Bodies of the skills and signatures of the tools. */
  readonly system: string;
  readonly question: string;
  /** What may be called now, `Skill` and `ToolSearch` included; it may grow from step to step. */
  readonly tools: readonly BoundTool[];
  readonly calls: readonly CompletedCall[];
  /** What `Skill` can load; empty where there is no such tool. */
  readonly menu: readonly MenuLine[];
  /** The skill that the owner named and that is to be loaded first. */
  readonly invoked?: string;
  /** Oldest first, with the words of others marked. */
  readonly history: readonly EarlierExchange[];
  /** Hears the answer, when this step is one. */
  readonly onToken?: OnToken;
}

/** One step: a call, whose arguments nobody has checked, or the answer. */
export type StepReply =
  | {
      readonly type: "call";
      readonly tool: string;
      readonly args: unknown;
      readonly usage?: Usage;
    }
  | { readonly type: "answer"; readonly text: string; readonly usage?: Usage }
  | ModelFailure;

/** A question that no skill serves. */
export interface DirectRequest {
  readonly system: string;
  readonly question: string;
  /** Why this path: no menu, or a plan that named nothing. */
  readonly reason: string;
  /** `goal`: nothing is answered, the question is restated as a goal. */
  readonly task: "answer" | "goal";
  readonly history: readonly EarlierExchange[];
  readonly onToken?: OnToken;
}

/** What a brain says on the direct path. */
export type DirectReply =
  | { readonly type: "answer"; readonly text: string; readonly usage?: Usage }
  | ModelFailure;

/** Why a brain, or an embedder, has no answer. */
export interface ModelFailure {
  readonly type: "failed";
  readonly reason: string;
  /**
   * Where somebody acts on it: the reply was cut at its limit of tokens; the prompt does not fit, and
   * nothing was sent; there is no engine or no file, and the reason says what to do.
   */
  readonly cause?: "tokens" | "overflow" | "unavailable";
  readonly usage?: Usage;
}

/** A brain. Whoever opened it disposes of it; one without resources does nothing then. */
export interface Model extends AsyncDisposable {
  readonly name: string;
  readonly plan: (request: PlanRequest, signal: AbortSignal) => Promise<PlanReply>;
  readonly step: (request: StepRequest, signal: AbortSignal) => Promise<StepReply>;
  readonly answer: (request: DirectRequest, signal: AbortSignal) => Promise<DirectReply>;
  /** What fits into one prompt with its reply, where that is bounded. Units: tokens. */
  readonly contextTokens?: number;
  /** A text's exact price, where there is a tokenizer. Units: tokens, without any template. */
  readonly countTokens?: (text: string) => number;
}
