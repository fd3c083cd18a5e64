/**
 * One model file, opened: the native engine, its context, and two lanes, so that the prompts of a plan
 * and of steps stay evaluated from one question to the next.
 *
 * Opened as a whole or not at all, and disposed of in order: sequences, context, model, engine. It
 * does not know what is asked of it. Spec: docs/agent.md "The engine".
 */
import { open } from "node:fs/promises";

import type { Llama, LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";

import { err, ok, type Result } from "../../../shared/result.ts";
import type { ModelFailure } from "../port.ts";
import { type Binding, firstLine, loadBinding, unavailable } from "./binding.ts";
import { type Template, templateOf } from "./chat.ts";
import { generate, type Generated, type Generation, type LaneParts } from "./lane.ts";

/** Which prompt is kept where. */
export type LaneName = "plan" | "step";

/** An open file. */
export interface Engine extends AsyncDisposable {
  readonly contextTokens: number;
  readonly template: Template;
  readonly countTokens: (text: string) => number;
  /** One generation a lane at a time: see line.ts. */
  readonly run: (lane: LaneName, generation: Generation, signal: AbortSignal) => Promise<Generated>;
}

/** What a file is opened with. */
export interface EngineOptions {
  readonly file: string;
  /** Tokens of prompt and reply together, in each lane; at most what the model was trained with. */
  readonly contextTokens: number;
  readonly threads: number;
  /** Units: ms. */
  readonly nowMs: () => number;
}

/** The native parts of a file, for whatever is built on them. */
export interface LoadedFile extends AsyncDisposable {
  readonly binding: Binding;
  readonly llama: Llama;
  readonly model: LlamaModel;
}

/** Opens a file for generating. */
export async function openEngine(options: EngineOptions): Promise<Result<Engine, ModelFailure>> {
  const loaded = await loadFile(options);
  if (!loaded.ok) return loaded;
  const { binding, llama, model } = loaded.value;
  const contextTokens = Math.min(options.contextTokens, model.trainContextSize);
  try {
    const context = await model.createContext({
      contextSize: contextTokens,
      sequences: planSequences + stepSequences,
      threads: options.threads,
    });
    return ok({
      contextTokens,
      template: templateOf(binding, model),
      countTokens: (text) => model.tokenize(text).length,
      run: lanes({ binding, llama, model, nowMs: options.nowMs }, context),
      [Symbol.asyncDispose]: async () => {
        await context.dispose();
        await loaded.value[Symbol.asyncDispose]();
      },
    });
  } catch (cause) {
    await loaded.value[Symbol.asyncDispose]();
    return err(
      unavailable(
        `there is no room for a context of ${contextTokens} tokens: choose a smaller model or context (${firstLine(cause)})`,
      ),
    );
  }
}

/** The menu is one prompt; the procedures of two skills are kept, since questions alternate. */
const planSequences = 1;
const stepSequences = 2;

function lanes(parts: Omit<LaneParts, "sequence">, context: LlamaContext): Engine["run"] {
  const take = (count: number): LlamaContextSequence[] =>
    Array.from({ length: count }, () => context.getSequence());
  // The one used longest ago stands first.
  const sequences = { plan: take(planSequences), step: take(stepSequences) };
  return (lane, generation, signal) => {
    const sequence = closest(sequences[lane], generation.prompt);
    sequences[lane] = [...sequences[lane].filter((one) => one !== sequence), sequence];
    return generate({ ...parts, sequence }, generation, signal);
  };
}

/** The sequence that holds half of the prompt already, else the one used longest ago. */
function closest(
  sequences: readonly LlamaContextSequence[],
  prompt: readonly Token[],
): LlamaContextSequence {
  const [oldest] = sequences;
  if (oldest === undefined) throw new Error("a lane has a sequence");
  const half = prompt.length / 2;
  const holding = sequences.find(
    (one) => one.compareContextTokens([...prompt]).firstDifferentIndex >= half,
  );
  return holding ?? oldest;
}

/** Loads a file into the native engine. `vocabOnly`: its tokenizer, without the weights. */
export async function loadFile({
  file,
  threads,
  vocabOnly = false,
}: {
  readonly file: string;
  readonly threads: number;
  readonly vocabOnly?: boolean;
}): Promise<Result<LoadedFile, ModelFailure>> {
  const problem = await fileProblem(file);
  if (problem !== undefined) return err(unavailable(problem));
  const binding = await loadBinding();
  if (!binding.ok) return binding;
  const errors: string[] = [];
  let llama: Llama | undefined;
  try {
    llama = await binding.value.getLlama({
      // The other platforms' engines for graphics cards are not installed.
      gpu: process.platform === "darwin" ? "auto" : false,
      build: "never",
      skipDownload: true,
      maxThreads: threads,
      logLevel: binding.value.LlamaLogLevel.error,
      logger: (_level, message) => void (errors.length < 8 && errors.push(message.trim())),
    });
    const model = await llama.loadModel({ modelPath: file, vocabOnly });
    const engine = llama;
    return ok({
      binding: binding.value,
      llama: engine,
      model,
      [Symbol.asyncDispose]: async () => {
        await model.dispose();
        await engine.dispose();
      },
    });
  } catch (cause) {
    await llama?.dispose();
    const why = [firstLine(cause), ...errors.slice(0, 1)].join("; ");
    return err(
      unavailable(`the model file ${file} cannot be loaded: pull or import it again (${why})`),
    );
  }
}

/** What is wrong with a file before the native engine is given it. */
async function fileProblem(file: string): Promise<string | undefined> {
  try {
    const opened = await open(file);
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(4), 0, 4, 0);
      return bytesRead === 4 && buffer.toString("latin1") === "GGUF"
        ? undefined
        : `${file} is no model: expected a GGUF file`;
    } finally {
      await opened.close();
    }
  } catch (cause) {
    return `the model file ${file} cannot be read: pull or import it, or choose another (${firstLine(cause)})`;
  }
}
