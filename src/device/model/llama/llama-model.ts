/**
 * A brain on a GGUF file: plans under a grammar of the menu's handles, steps under one of the bound
 * tools and the answer. The prompt is counted before it is sent, and one that does not fit is refused
 * with the numbers, never cut.
 *
 * Spec: docs/agent.md "The engine".
 */
import { type Clock, systemClock } from "../../../shared/clock.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type {
  DirectReply,
  DirectRequest,
  Model,
  ModelFailure,
  PlanReply,
  PlanRequest,
  StepReply,
  StepRequest,
} from "../port.ts";
import { directMessages, type Message, planMessages, stepMessages } from "../transcript.ts";
import { type Engine, type LaneName, openEngine } from "./engine.ts";
import type { Generated, Guide } from "./lane.ts";
import { createLine, type Line } from "./line.ts";
import { type LikelyHandle, planGuide } from "./plan-grammar.ts";
import { answerSoFar, brokenOff, growing, stepReply } from "./replies.ts";
import { createResidence, type Residence } from "./residence.ts";
import { stepGuide } from "./step-guide.ts";
import { guidedOffer, type Offer, openOffer } from "./step-offer.ts";
import { usableThreads } from "./threads.ts";

/** Which handles a plan may name, decided before the model speaks; or the plan itself. */
export type Narrow = (
  request: PlanRequest,
  signal: AbortSignal,
) => Promise<
  | {
      readonly type: "narrowed";
      readonly handles: readonly LikelyHandle[];
      /** Whether the plan may also name none. */
      readonly none: boolean;
    }
  | PlanReply
>;

/** How a model is opened. */
export interface LlamaModelOptions {
  readonly file: string;
  /** How the brain is called in traces; default: `llama`. */
  readonly name?: string;
  /** Tokens of prompt and reply together; default 4,096. */
  readonly contextTokens?: number;
  /** Longest call or answer; default 640. */
  readonly replyTokens?: number;
  /** Default: what the machine and its quota allow. */
  readonly threads?: number;
  /** Default: every handle of the menu, or none. */
  readonly narrow?: Narrow;
  /** Offers a small model only what makes sense next: see step-offer.ts. Default: false. */
  readonly guided?: boolean;
  /** Unloads after this time without a question; default 10 minutes, 0: never. Units: ms. */
  readonly idleMs?: number;
  readonly clock?: Clock;
}

/** A brain on a file, with what a surface may show of it. */
export interface LlamaModel extends Model {
  readonly countTokens: (text: string) => number;
  readonly contextTokens: number;
  /** Whether the weights are in memory. */
  readonly isLoaded: () => boolean;
}

const defaultContextTokens = 4_096;
const defaultIdleMs = 600_000;
/** Requests that wait or run in a lane; more are refused. */
const linePlaces = 8;
/** Longest plan. Units: tokens. */
const planTokens = 96;
const defaultReplyTokens = 640;

/** Opens a model. What is wrong with the engine or the file is said now, and what to do about it. */
export async function openLlamaModel(
  options: LlamaModelOptions,
): Promise<Result<LlamaModel, ModelFailure>> {
  const { file, contextTokens = defaultContextTokens, clock = systemClock } = options;
  const threads = options.threads ?? usableThreads();
  const open = (): ReturnType<typeof openEngine> =>
    openEngine({ file, contextTokens, threads, nowMs: clock.nowMs });
  const idleMs = options.idleMs ?? defaultIdleMs;
  let known = contextTokens;
  const residence = await createResidence({
    open: async () => {
      const engine = await open();
      if (engine.ok) known = engine.value.contextTokens;
      return engine;
    },
    file,
    clock,
    idleMs,
  });
  if (!residence.ok) return err(residence.error);
  return ok(modelOf(options, residence.value, known));
}

function modelOf(
  options: LlamaModelOptions,
  residence: Residence,
  contextTokens: number,
): LlamaModel {
  const { name = "llama", narrow = everyHandle } = options;
  const lanes: Lanes = {
    residence,
    replyTokens: options.replyTokens ?? defaultReplyTokens,
    offer: options.guided === true ? guidedOffer : openOffer,
    lines: { plan: createLine(linePlaces), step: createLine(linePlaces) },
  };
  return {
    name,
    contextTokens,
    isLoaded: residence.isLoaded,
    countTokens: residence.countTokens,
    plan: (request, signal) => plan(lanes, narrow, request, signal),
    step: (request, signal) => step(lanes, request, signal),
    answer: (request, signal) => answer(lanes, request, signal),
    [Symbol.asyncDispose]: () => residence[Symbol.asyncDispose](),
  };
}

async function everyHandle({ menu }: PlanRequest): ReturnType<Narrow> {
  return {
    type: "narrowed",
    handles: menu.map(({ handle }) => ({ handle, score: 0 })),
    none: true,
  };
}

async function plan(
  lanes: Lanes,
  narrow: Narrow,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<PlanReply> {
  const narrowed = await narrow(request, signal);
  if (narrowed.type !== "narrowed") return narrowed;
  const { onToken } = request;
  const generated = await run(
    lanes,
    {
      lane: "plan",
      messages: planMessages(request),
      guide: planGuide(narrowed.handles, narrowed.none),
      maxTokens: planTokens,
      ...(onToken === undefined ? {} : { onText: growing(onToken) }),
    },
    signal,
  );
  if ("type" in generated) return generated;
  const { text, usage } = generated;
  return brokenOff(generated) ?? { type: "plan", sentence: text.trim(), usage };
}

async function step(lanes: Lanes, request: StepRequest, signal: AbortSignal): Promise<StepReply> {
  const { onToken } = request;
  const guide = stepGuide(lanes.offer(request));
  const only = guide.resume?.("");
  if (only !== undefined && only.grammar === undefined) return withoutModel(only.text, signal);
  const generated = await run(
    lanes,
    {
      lane: "step",
      messages: stepMessages(request),
      guide,
      maxTokens: lanes.replyTokens,
      ...(onToken === undefined ? {} : { onText: growing(onToken, answerSoFar) }),
    },
    signal,
  );
  if ("type" in generated) return generated;
  return brokenOff(generated) ?? stepReply(generated);
}

/** The reply that is the only one possible. */
function withoutModel(text: string, signal: AbortSignal): StepReply {
  const usage = { promptTokens: 0, evaluatedTokens: 0, completionTokens: 0, ms: 0 };
  const generated: Generated = { text, stop: signal.aborted ? "aborted" : "end", usage };
  return brokenOff(generated) ?? stepReply(generated);
}

async function answer(
  lanes: Lanes,
  request: DirectRequest,
  signal: AbortSignal,
): Promise<DirectReply> {
  const { onToken } = request;
  const generated = await run(
    lanes,
    {
      // The plan's lane keeps the menu: it is the longer prompt, and the one that comes back.
      lane: "step",
      messages: directMessages(request),
      guide: undefined,
      maxTokens: lanes.replyTokens,
      ...(onToken === undefined ? {} : { onText: growing(onToken) }),
    },
    signal,
  );
  if ("type" in generated) return generated;
  const { text, usage } = generated;
  return brokenOff(generated) ?? { type: "answer", text: text.trim(), usage };
}

interface Lanes {
  readonly residence: Residence;
  readonly replyTokens: number;
  readonly offer: (request: StepRequest) => Offer;
  readonly lines: Readonly<Record<LaneName, Line>>;
}

interface Request {
  readonly lane: LaneName;
  readonly messages: readonly Message[];
  readonly guide: Guide | undefined;
  readonly maxTokens: number;
  readonly onText?: (text: string) => void;
}

async function run(
  { residence, lines }: Lanes,
  request: Request,
  signal: AbortSignal,
): Promise<Generated | ModelFailure> {
  const done = await lines[request.lane](
    () => residence.use((engine, until) => send(engine, request, until), signal),
    signal,
  );
  if (done !== undefined) return done;
  return {
    type: "failed",
    reason: signal.aborted
      ? "the model was stopped"
      : `the model is busy: ${linePlaces} requests are waiting, ask again when they are done`,
  };
}

async function send(
  engine: Engine,
  { lane, messages, ...rest }: Request,
  signal: AbortSignal,
): Promise<Generated | ModelFailure> {
  const prompt = engine.template(messages);
  const room = engine.contextTokens - prompt.length;
  if (room < rest.maxTokens) {
    return {
      type: "failed",
      cause: "overflow",
      reason: `the prompt takes ${prompt.length} tokens and the reply up to ${rest.maxTokens}, together more than the context of ${engine.contextTokens}: select fewer skills, shorten their texts or ask for less at once`,
    };
  }
  try {
    return await engine.run(lane, { prompt, ...rest }, signal);
  } catch (cause) {
    return {
      type: "failed",
      reason: `the model engine failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    };
  }
}
