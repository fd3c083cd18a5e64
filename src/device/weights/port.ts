/**
 * Models as a device's owner sees them: what may be installed, what is, which one answers, and what
 * pulling, importing, trying and measuring them says. Types only.
 *
 * Spec: docs/operating.md "Models".
 */
import type { Result } from "../../shared/result.ts";

/** Where models are kept, and how they are brought and run. */
export interface ModelOptions {
  readonly folder: string;
  /** A model without a question for so long leaves the memory; 0: it stays. Units: ms. */
  readonly idleMs?: number;
  /** Cores that the engine may use; by default what the machine and its quota allow. */
  readonly threads?: number;
  /** PIXIE_MODEL_MIRROR and the settings of proxies; none of them by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A model that is known by name, or a file of the owner's. */
export interface ModelView {
  readonly name: string;
  /** `chat` can be the brain; `embedding` chooses skills and searches by meaning. */
  readonly use: "chat" | "embedding";
  readonly title: string;
  readonly file: string;
  readonly bytes: number;
  /** `undefined` for a file of the owner's, like `licence`. */
  readonly memoryBytes: number | undefined;
  readonly licence: string | undefined;
  /** Whether this project has run and measured it. */
  readonly tried: boolean;
  readonly installed: boolean;
  /** Whether it is in use on this device. */
  readonly active: boolean;
}

/** The models of a device. */
export interface ModelsView {
  readonly folder: string;
  /** What answers questions: `basic`, or a model's name. */
  readonly brain: string;
  readonly embedder: string | undefined;
  readonly models: readonly ModelView[];
}

/** What a brain takes on this machine. */
export interface ModelBench {
  readonly name: string;
  readonly loadMs: number;
  readonly promptTokens: number;
  /** Reading a prompt. Units: tokens per second. */
  readonly prefillRate: number;
  readonly completionTokens: number;
  /** Writing an answer. Units: tokens per second. */
  readonly decodeRate: number;
}

/** One thing that was looked at. */
export interface ModelFinding {
  readonly ok: boolean;
  /** What was found, and what to do where it is not well. */
  readonly text: string;
}

/** How far a long act is. Units: bytes. */
export interface ModelProgress {
  readonly type: "model-progress";
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** How a caller follows a long act. Stopping keeps what is done. */
export interface ModelActOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ModelProgress) => void;
}

/** Why an act on models failed, for a person and for a program. */
export interface ModelError {
  readonly type: string;
  readonly message: string;
}

/** What the owner may do with models. Nothing here happens by itself. */
export interface DeviceModels {
  readonly list: () => Promise<ModelsView>;
  /** Downloads a model of the catalogue. An embedding model is in use from then on. */
  readonly pull: (
    name: string,
    options?: ModelActOptions,
  ) => Promise<Result<ModelView, ModelError>>;
  /** Takes a file of this machine. Like `pull` when it is a model of the catalogue. */
  readonly import: (
    file: string,
    options?: ModelActOptions,
  ) => Promise<Result<ModelView, ModelError>>;
  /** Lets a model answer from now on, or `basic`. It is hashed and tried first. */
  readonly use: (
    name: string,
    options?: ModelActOptions,
  ) => Promise<Result<ModelsView, ModelError>>;
  /** Measures a model, the one in use by default. */
  readonly bench: (
    name: string | undefined,
    options?: ModelActOptions,
  ) => Promise<Result<ModelBench, ModelError>>;
  /** Looks whether everything is as it should be. */
  readonly check: () => Promise<readonly ModelFinding[]>;
}
