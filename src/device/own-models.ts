/**
 * What a device's owner does with models: list, pull, import, use, measure, check. Joins the files of
 * weights/ with the brains; one long act on a model at a time.
 *
 * Spec: docs/operating.md "Models".
 */
import { totalmem } from "node:os";
import { access, constants, statfs } from "node:fs/promises";

import type { Clock } from "../shared/clock.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { Brains, ModelOpeners } from "./brains.ts";
import { measureModel } from "./model-bench.ts";
import { catalogue, type CatalogueEntry, catalogueEntry } from "./weights/catalogue.ts";
import { importModel } from "./weights/import-model.ts";
import {
  checkHash,
  type InstalledModel,
  installedModels,
  unfinishedFiles,
} from "./weights/installed.ts";
import type {
  DeviceModels,
  ModelActOptions,
  ModelError,
  ModelFinding,
  ModelOptions,
  ModelsView,
  ModelView,
} from "./weights/port.ts";
import { pullModel } from "./weights/pull.ts";

/** What the owner's models are made of. */
export interface OwnModelParts {
  readonly options: ModelOptions | undefined;
  readonly clock: Clock;
  readonly brains: Brains;
  readonly openers: ModelOpeners;
  /** Runs when an embedding model was taken into use. */
  readonly onEmbedder: () => void;
}

type Act<T> = (folder: string, signal: AbortSignal) => Promise<Result<T, ModelError>>;

/** A server that sends nothing for so long is asked anew. */
const stallMs = 60_000;

/** Models, and how what runs on them is ended. */
export interface OwnModels {
  readonly models: DeviceModels;
  readonly close: () => Promise<void>;
}

/** Builds them. */
export function createOwnModels(parts: OwnModelParts): OwnModels {
  const { options, brains } = parts;
  const ending = new AbortController();
  let running: Promise<unknown> | undefined;
  const alone = async <T>(given: ModelActOptions, act: Act<T>): Promise<Result<T, ModelError>> => {
    if (options === undefined) return err(noFolder);
    if (running !== undefined) return err(alreadyBusy);
    const signals = given.signal === undefined ? [] : [given.signal];
    const acting = act(options.folder, AbortSignal.any([ending.signal, ...signals]));
    running = Promise.allSettled([acting]).then(() => (running = undefined));
    return await acting;
  };
  const models: DeviceModels = {
    list: () => listModels(parts),
    pull: (name, given = {}) =>
      alone(given, async (folder, signal) => {
        const entry = catalogueEntry(name);
        if (entry === undefined) return err(noSuchModel(name, catalogue));
        const pulled = await pullModel(entry, {
          folder,
          signal,
          env: options?.env ?? {},
          clock: parts.clock,
          stallMs,
          onProgress: (progress) => given.onProgress?.({ type: "model-progress", ...progress }),
        });
        if (!pulled.ok) return pulled;
        const { bytes } = entry;
        return await settleIn(parts, { name, path: pulled.value, bytes, entry }, signal);
      }),
    import: (file, given = {}) =>
      alone(given, async (folder, signal) => {
        const imported = await importModel(file, folder, signal);
        return imported.ok ? await settleIn(parts, imported.value, signal) : imported;
      }),
    use: (name, given = {}) =>
      alone(given, async (folder, signal) => {
        const used = await useModel(parts, name, folder, signal);
        return used.ok ? ok(await listModels(parts)) : used;
      }),
    bench: (name = brains.name(), given = {}) =>
      alone(given, async (folder, signal) => {
        const model = await installedChat(name, folder);
        if (!model.ok) return model;
        await brains.rest();
        return await measureModel(() => parts.openers.model(model.value), name, signal);
      }),
    check: () => checkModels(parts),
  };
  return {
    models,
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

/** An embedding model works from here on; a brain waits until it is chosen. */
async function settleIn(
  parts: OwnModelParts,
  model: InstalledModel,
  signal: AbortSignal,
): Promise<Result<ModelView, ModelError>> {
  // What was missing may be here now.
  await parts.brains.rest();
  if (model.entry?.use === "embedding") {
    const chosen = await parts.brains.chooseEmbedder(model, signal);
    if (!chosen.ok) return chosen;
    parts.onEmbedder();
  }
  return ok(viewOf(parts.brains, model));
}

async function useModel(
  { brains }: OwnModelParts,
  name: string,
  folder: string,
  signal: AbortSignal,
): Promise<Result<undefined, ModelError>> {
  if (name === "basic") return await brains.choose("basic", signal);
  const model = await installedChat(name, folder);
  if (!model.ok) return model;
  const whole = await checkHash(model.value, signal);
  return whole.ok ? await brains.choose(model.value, signal) : whole;
}

async function installedChat(
  name: string,
  folder: string,
): Promise<Result<InstalledModel, ModelError>> {
  const installed = await installedModels(folder);
  const model = installed.find((each) => each.name === name);
  if (model?.entry?.use === "embedding") {
    return err({
      type: "not-a-brain",
      message: `${name} chooses skills and searches; it does not answer: expected a chat model or basic`,
    });
  }
  if (model !== undefined) return ok(model);
  if (catalogueEntry(name) === undefined) return err(noSuchModel(name, installed));
  return err({
    type: "no-such-model",
    message: `${name} is not installed: pixie model pull ${name}, or pixie model import <file>`,
  });
}

async function listModels({ options, brains }: OwnModelParts): Promise<ModelsView> {
  const installed = options === undefined ? [] : await installedModels(options.folder);
  const here = new Set(installed.map(({ name }) => name));
  const known = catalogue.map((entry) => knownView(brains, entry, here.has(entry.name)));
  const own = installed.filter(({ entry }) => entry === undefined);
  return {
    folder: options?.folder ?? "",
    brain: brains.name(),
    embedder: brains.embedderName(),
    models: [...known, ...own.map((model) => ownView(brains, model))],
  };
}

function viewOf(brains: Brains, { entry, ...model }: InstalledModel): ModelView {
  return entry === undefined ? ownView(brains, model) : knownView(brains, entry, true);
}

function knownView(brains: Brains, entry: CatalogueEntry, installed: boolean): ModelView {
  const { name, use, title, file, bytes, memoryBytes, licence, tried } = entry;
  const active = isInUse(brains, name);
  return { name, use, title, file, bytes, memoryBytes, licence, tried, installed, active };
}

function ownView(
  brains: Brains,
  { name, bytes }: Pick<InstalledModel, "name" | "bytes">,
): ModelView {
  return {
    name,
    use: "chat",
    title: "a file of your own",
    file: `${name}.gguf`,
    bytes,
    memoryBytes: undefined,
    licence: undefined,
    tried: false,
    installed: true,
    active: isInUse(brains, name),
  };
}

function isInUse(brains: Brains, name: string): boolean {
  return name === brains.name() || name === brains.embedderName();
}

async function checkModels(parts: OwnModelParts): Promise<readonly ModelFinding[]> {
  const { options, brains } = parts;
  if (options === undefined) return [{ ok: false, text: noFolder.message }];
  const installed = await installedModels(options.folder);
  const findings: ModelFinding[] = [await checkFolder(options.folder)];
  const { signal } = new AbortController();
  for (const model of installed) {
    const whole = await checkHash(model, signal);
    findings.push(
      whole.ok
        ? { ok: true, text: `${model.name}: whole` }
        : { ok: false, text: whole.error.message },
    );
    findings.push(...checkMemory(model));
  }
  for (const name of [brains.name(), brains.embedderName() ?? "basic"]) {
    const gone = name !== "basic" && !installed.some((model) => model.name === name);
    if (gone)
      findings.push({
        ok: false,
        text: `${name} is in use and not installed: pixie model pull ${name}, or pixie model use basic`,
      });
  }
  for (const file of await unfinishedFiles(options.folder)) {
    findings.push({ ok: true, text: `${file} is not finished: pull again to go on, or delete it` });
  }
  findings.push(await checkBrain(parts));
  return findings;
}

async function checkFolder(folder: string): Promise<ModelFinding> {
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return { ok: true, text: `${folder}: ${gib(bavail * bsize)} GiB free` };
  } catch {
    return {
      ok: true,
      text: `${folder}: not there yet, or not writable; pulling a model makes it`,
    };
  }
}

function checkMemory({ name, entry }: InstalledModel): readonly ModelFinding[] {
  const has = totalmem();
  if (entry === undefined || has >= entry.memoryBytes) return [];
  return [
    {
      ok: false,
      text: `${name}: wants a machine with ${gib(entry.memoryBytes)} GiB of memory, this one has ${gib(has)}: use a smaller model`,
    },
  ];
}

/** Whether what is chosen opens. */
async function checkBrain({ brains }: OwnModelParts): Promise<ModelFinding> {
  const name = brains.name();
  if (name === "basic") return { ok: true, text: "the basic brain answers: it needs no model" };
  const { signal } = new AbortController();
  const asked = await (
    await brains.current()
  ).answer(
    {
      system: "Answer with one word.",
      question: "Say yes.",
      reason: "a check",
      task: "answer",
      history: [],
    },
    signal,
  );
  return asked.type === "failed"
    ? { ok: false, text: `${name}: ${asked.reason}` }
    : { ok: true, text: `${name} answers` };
}

function gib(bytes: number): string {
  return (bytes / 1_024 ** 3).toFixed(1);
}

function noSuchModel(name: string, known: readonly { readonly name: string }[]): ModelError {
  const names = ["basic", ...known.map((each) => each.name)].join(", ");
  return { type: "no-such-model", message: `there is no model ${name}: expected one of ${names}` };
}

const noFolder: ModelError = {
  type: "no-model-folder",
  message: "this device was opened without a folder for models: give it one (PIXIE_MODEL_DIR)",
};

const alreadyBusy: ModelError = {
  type: "already-busy",
  message: "another model is being pulled, imported or tried on this device: wait for it",
};
