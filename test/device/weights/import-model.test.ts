/** Importing files that somebody brought: what is taken, under which name, and what is refused. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { importModel } from "../../../src/device/weights/import-model.ts";
import { checkHash, installedModels } from "../../../src/device/weights/installed.ts";
import { modelFile } from "../../support/model-files.ts";

const { signal } = new AbortController();
let base = "";
let folder = "";
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "pixie-import-"));
  folder = path.join(base, "models");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function brought(name: string, content = "GGUF and more"): string {
  const file = path.join(base, name);
  writeFileSync(file, content);
  return file;
}

it("takes an unknown file under its own name, with its hash beside it", async () => {
  const imported = await importModel(brought("my-own.gguf"), folder, signal);
  expect(imported).toMatchObject({ value: { name: "my-own", entry: undefined, bytes: 13 } });
  const [model] = await installedModels(folder);
  if (model === undefined) throw new Error("nothing is installed");
  expect(model.name).toBe("my-own");
  expect((await checkHash(model, signal)).ok).toBe(true);
  writeFileSync(model.path, "GGUF and rust");
  expect(await checkHash(model, signal)).toMatchObject({ error: { type: "wrong-bytes" } });
});

it("knows a model of the catalogue by its hash, whatever it is called", async () => {
  const cached = await modelFile("smollm2", "importing a model of the catalogue");
  const source = cached ?? brought("other.gguf");
  const renamed = path.join(base, "renamed.gguf");
  writeFileSync(renamed, readFileSync(source));
  const imported = await importModel(renamed, folder, signal);
  expect(imported).toMatchObject({ value: { name: cached === undefined ? "renamed" : "smollm2" } });
});

it.each([
  ["text.gguf", "just text", "not-a-model"],
  ["empty.gguf", "", "not-a-model"],
  ["qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "GGUF and more", "wrong-bytes"],
  ["minilm.gguf", "GGUF and more", "wrong-bytes"],
  ["basic.gguf", "GGUF and more", "wrong-bytes"],
  ["not a name.gguf", "GGUF and more", "not-a-model"],
])("refuses %s and leaves nothing behind", async (name, content, type) => {
  const imported = await importModel(brought(name, content), folder, signal);
  expect(imported).toMatchObject({ error: { type } });
  expect(await installedModels(folder)).toEqual([]);
  expect(readdirSync(base)).toContain(name);
});

it("says which file is not there", async () => {
  const imported = await importModel(path.join(base, "gone.gguf"), folder, signal);
  expect(imported).toMatchObject({ error: { type: "no-such-file" } });
  expect(JSON.stringify(imported)).toContain("gone.gguf");
});

it("an import that is stopped installs nothing", async () => {
  const imported = await importModel(brought("my-own.gguf"), folder, AbortSignal.abort());
  expect(imported).toMatchObject({ error: { type: "aborted" } });
  expect(readdirSync(folder)).toEqual([]);
});
