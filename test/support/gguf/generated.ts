/**
 * Generated models on disk for one test file: a folder of its own, and models that are opened with one
 * thread and closed when the file is done.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll } from "vitest";

import {
  type LlamaModel,
  type LlamaModelOptions,
  openLlamaModel,
} from "../../../src/device/model/llama/llama-model.ts";

/** What a test file makes its models with. */
export interface GeneratedModels {
  /** Writes a file and returns its path. */
  readonly write: (name: string, bytes: Uint8Array) => string;
  readonly open: (file: string, options?: Partial<LlamaModelOptions>) => Promise<LlamaModel>;
}

/** Makes the folder; it and the models are gone after the file's last test. */
export function generatedModels(): GeneratedModels {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-gguf-"));
  const opened: LlamaModel[] = [];
  afterAll(async () => {
    for (const model of opened) await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  return {
    write: (name, bytes) => {
      const file = path.join(folder, name);
      writeFileSync(file, bytes);
      return file;
    },
    open: async (file, options = {}) => {
      const model = await openLlamaModel({ file, threads: 1, ...options });
      if (!model.ok) throw new Error(model.error.reason);
      opened.push(model.value);
      return model.value;
    },
  };
}
