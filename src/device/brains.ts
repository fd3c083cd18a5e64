/**
 * Which brain answers on this device, and which embedder reads meaning: chosen by the owner, loaded at
 * the first use, tried before it is chosen. A chosen model that is gone is said, never stood in for.
 *
 * The choice is two settings of the store; files are weights/, the engine is passed in.
 * Spec: docs/agent.md "Brains".
 */
import { err, ok, type Result } from "../shared/result.ts";
import type { Embedder } from "./model/embedder.ts";
import type { Model, ModelFailure } from "./model/port.ts";
import { deleteSetting, getSetting, putSetting } from "./store/settings.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import { installedModels, type InstalledModel } from "./weights/installed.ts";
import type { ModelError } from "./weights/port.ts";

/** Opens files with an engine; a port, so that tests need none. */
export interface ModelOpeners {
  readonly model: (installed: InstalledModel) => Promise<Result<Model, ModelFailure>>;
  readonly embedder: (installed: InstalledModel) => Promise<Result<Embedder, ModelFailure>>;
}

/** What the brains are made of. */
export interface BrainParts {
  readonly store: DeviceStore;
  /** Folder of the model files; `undefined` where this device has none. */
  readonly folder: string | undefined;
  readonly openers: ModelOpeners;
  /** The brain that needs no model. */
  readonly basic: () => Promise<Model>;
}

/** The brains of a device. */
export interface Brains extends Thinking, Reading {
  readonly close: () => Promise<void>;
}

/** The brain in use. */
interface Thinking {
  /** One whose file is gone or does not open answers every request with that. */
  readonly current: () => Promise<Model>;
  readonly name: () => string;
  /** The tokenizer of the brain in use, while that is open. */
  readonly countTokens: () => ((text: string) => number) | undefined;
  /** Opens the model anew, tries it, and takes it into use. */
  readonly choose: (
    model: InstalledModel | "basic",
    signal: AbortSignal,
  ) => Promise<Result<undefined, ModelError>>;
  /** Puts the brain out of memory; the next question loads it again. */
  readonly rest: () => Promise<void>;
}

/** The embedder in use. */
interface Reading {
  /** `undefined` without one, or where it does not open. */
  readonly embedder: () => Promise<Embedder | undefined>;
  readonly embedderName: () => string | undefined;
  /** Opens an embedding model, tries it, and takes it into use. */
  readonly chooseEmbedder: (
    model: InstalledModel,
    signal: AbortSignal,
  ) => Promise<Result<undefined, ModelError>>;
}

const brainKey = "model.brain";
const embedderKey = "model.embedder";
const basicName = "basic";

/** Builds them. Nothing is opened before the first use. */
export function createBrains(parts: BrainParts): Brains {
  const { closeEmbedder, ...reading } = createReading(parts);
  const thinking = createThinking(parts);
  return {
    ...thinking,
    ...reading,
    close: async () => {
      await thinking.rest();
      await closeEmbedder();
    },
  };
}

function createThinking(parts: BrainParts): Thinking {
  const { store, openers, basic } = parts;
  let brain: Promise<Model> | undefined;
  let opened: Model | undefined;
  const name = (): string => store.read((tx) => getSetting(tx, brainKey)) ?? basicName;
  const open = async (): Promise<Model> => {
    const wanted = name();
    if (wanted === basicName) return await basic();
    const model = await installed(parts, wanted);
    if (model === undefined) return missingBrain(wanted, `${wanted} is not installed any more`);
    const found = await openers.model(model);
    return found.ok ? found.value : missingBrain(wanted, found.error.reason);
  };
  const rest = async (): Promise<void> => {
    const leaving = brain;
    brain = undefined;
    opened = undefined;
    await (await leaving)?.[Symbol.asyncDispose]();
  };
  return {
    name,
    rest,
    countTokens: () => opened?.countTokens,
    current: async () => (opened = await (brain ??= open())),
    choose: async (model, signal) => {
      await rest();
      if (model === basicName) {
        store.write((tx) => deleteSetting(tx, brainKey));
        return ok(undefined);
      }
      const chosen = await openers.model(model);
      if (!chosen.ok) return unusable(model.name, chosen.error.reason);
      const problem = await tryBrain(chosen.value, signal);
      if (problem !== undefined) {
        await chosen.value[Symbol.asyncDispose]();
        return unusable(model.name, problem);
      }
      store.write((tx) => putSetting(tx, brainKey, model.name));
      opened = chosen.value;
      brain = Promise.resolve(opened);
      return ok(undefined);
    },
  };
}

function createReading(
  parts: BrainParts,
): Reading & { readonly closeEmbedder: () => Promise<void> } {
  const { store, openers } = parts;
  let embedder: Promise<Embedder | undefined> | undefined;
  const embedderName = (): string | undefined => store.read((tx) => getSetting(tx, embedderKey));
  const open = async (): Promise<Embedder | undefined> => {
    const model = await installed(parts, embedderName() ?? "");
    const found = model === undefined ? undefined : await openers.embedder(model);
    return found?.ok === true ? found.value : undefined;
  };
  const closeEmbedder = async (): Promise<void> => {
    const leaving = embedder;
    embedder = undefined;
    await (await leaving)?.[Symbol.asyncDispose]();
  };
  return {
    embedderName,
    closeEmbedder,
    embedder: () => (embedder ??= open()),
    chooseEmbedder: async (model, signal) => {
      const chosen = await openers.embedder(model);
      if (!chosen.ok) return unusable(model.name, chosen.error.reason);
      const tried = await chosen.value.embed(["hello"], signal);
      if (tried.type === "failed") {
        await chosen.value[Symbol.asyncDispose]();
        return unusable(model.name, tried.reason);
      }
      await closeEmbedder();
      store.write((tx) => putSetting(tx, embedderKey, model.name));
      embedder = Promise.resolve(chosen.value);
      return ok(undefined);
    },
  };
}

async function installed(
  { folder }: BrainParts,
  wanted: string,
): Promise<InstalledModel | undefined> {
  if (folder === undefined) return undefined;
  return (await installedModels(folder)).find(({ name }) => name === wanted);
}

/** A plan over two skills: whatever it says, it must say something. Returns what went wrong. */
async function tryBrain(model: Model, signal: AbortSignal): Promise<string | undefined> {
  const menu = [
    { handle: "check-schedule", line: "Tells what is on in the calendar" },
    { handle: "find-document", line: "Finds a document among the files" },
  ];
  const lines = menu.map(({ handle, line }) => `- @${handle}: ${line}`).join("\n");
  const plan = await model.plan(
    { system: `Your skills:\n${lines}`, question: "What is on tomorrow?", history: [], menu },
    signal,
  );
  return plan.type === "failed" ? plan.reason : undefined;
}

/** A brain that says why there is none. Asking it is how its owner gets to know. */
function missingBrain(name: string, reason: string): Model {
  const failed = async (): Promise<ModelFailure> => ({
    type: "failed",
    cause: "unavailable",
    reason: `${reason}: see pixie model doctor, or let the basic brain answer with pixie model use basic`,
  });
  return {
    name,
    plan: failed,
    step: failed,
    answer: failed,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function unusable(
  name: string,
  reason: string,
): { readonly ok: false; readonly error: ModelError } {
  return err({ type: "model-unusable", message: `${name} does not work here: ${reason}` });
}
