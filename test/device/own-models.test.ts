/**
 * Models of a whole device, over the real engine and generated files: what answers after each act of
 * the owner, and what is said when a file is broken or gone.
 */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { stopOf } from "../../src/device/agent/events.ts";
import type { Device } from "../../src/device/device.ts";
import { createDevice } from "../../src/device/index.ts";
import { scriptedLlama } from "../support/gguf/scripted-llama.ts";
import { expectOk } from "../support/pair.ts";

/** Says one thing, whatever it is asked. */
const direct = scriptedLlama([{ when: [], say: "I can answer that directly." }]);
let base = "";
let device: Device;
beforeEach(async () => {
  base = mkdtempSync(path.join(tmpdir(), "pixie-models-"));
  const models = { folder: path.join(base, "models"), threads: 1 };
  device = expectOk(await createDevice({ inMemory: true, zone: "UTC", models }));
});
afterEach(async () => {
  await device.close();
  rmSync(base, { recursive: true, force: true });
});

function brought(name: string, content: Uint8Array): string {
  const file = path.join(base, name);
  writeFileSync(file, content);
  return file;
}

const brainOf = async (): Promise<unknown> => (await device.models.list()).brain;

async function stopDetail(question: string): Promise<string | undefined> {
  return stopOf(expectOk(await device.agent.ask(question)))?.detail;
}

it("lists the catalogue, with the basic brain in use and nothing installed", async () => {
  const { brain, embedder, models } = await device.models.list();
  expect({ brain, embedder }).toEqual({ brain: "basic", embedder: undefined });
  expect(models.map(({ name }) => name)).toContain("qwen-coder-1.5b");
  expect(models.filter(({ installed, active }) => installed || active)).toEqual([]);
});

it("lets an imported model answer, and the basic brain again", async () => {
  const imported = expectOk(await device.models.import(brought("mine.gguf", direct)));
  expect(imported).toMatchObject({ name: "mine", installed: true, active: false });
  expect(await brainOf()).toBe("basic");

  expectOk(await device.models.use("mine"));
  expect(await brainOf()).toBe("mine");
  const [started] = expectOk(await device.agent.ask("hello", { rehearse: true }));
  expect(started).toMatchObject({ type: "turn-started", brain: "mine" });

  expectOk(await device.models.use("basic"));
  const [again] = expectOk(await device.agent.ask("hello", { rehearse: true }));
  expect(again).toMatchObject({ type: "turn-started", brain: "basic" });
});

it("counts the document's tokens exactly once a model is in memory", async () => {
  expect(device.agent.alignment().tokensAreExact).toBe(false);
  expectOk(await device.models.import(brought("mine.gguf", direct)));
  expectOk(await device.models.use("mine"));
  const { tokens, tokensAreExact, document } = device.agent.alignment();
  expect(tokensAreExact).toBe(true);
  // Most of the generated model's words are single bytes.
  expect(tokens).toBeGreaterThan(document.length / 2);
});

it("says that a model in use is gone, and answers with nothing else", async () => {
  expectOk(await device.models.import(brought("mine.gguf", direct)));
  expectOk(await device.models.use("mine"));
  rmSync(path.join(base, "models", "mine.gguf"));
  expectOk(await device.models.import(brought("other.gguf", direct)));
  expect(await stopDetail("what is on tomorrow?")).toContain("mine is not installed any more");
  expect(await brainOf()).toBe("mine");
  const findings = await device.models.check();
  expect(
    findings
      .filter(({ ok }) => !ok)
      .map(({ text }) => text)
      .join("\n"),
  ).toContain("mine is in use and not installed");
});

it("refuses a file that rusted, and one that the engine cannot read", async () => {
  expectOk(await device.models.import(brought("mine.gguf", direct)));
  truncateSync(path.join(base, "models", "mine.gguf"), 1_000);
  expect(await device.models.use("mine")).toMatchObject({ error: { type: "wrong-bytes" } });

  const half = direct.subarray(0, 2_000);
  expectOk(await device.models.import(brought("half.gguf", half)));
  expect(await device.models.use("half")).toMatchObject({ error: { type: "model-unusable" } });
  expect(await brainOf()).toBe("basic");
});

it("names what is missing", async () => {
  expect(await device.models.use("qwen-coder-1.5b")).toMatchObject({
    error: { type: "no-such-model", message: expect.stringContaining("pixie model pull") },
  });
  expect(await device.models.use("gpt")).toMatchObject({ error: { type: "no-such-model" } });
  expect(await device.models.pull("gpt")).toMatchObject({ error: { type: "no-such-model" } });
  expect(await device.models.bench(undefined)).toMatchObject({ error: { type: "no-such-model" } });
});

it("measures a model", async () => {
  expectOk(await device.models.import(brought("mine.gguf", direct)));
  const { promptTokens, completionTokens } = expectOk(await device.models.bench("mine"));
  expect(promptTokens).toBeGreaterThan(500);
  expect(completionTokens).toBeGreaterThan(0);
});

it("has no models where it was given no folder", async () => {
  await using bare = expectOk(await createDevice({ inMemory: true }));
  expect(await bare.models.use("basic")).toMatchObject({ error: { type: "no-model-folder" } });
  expect(await bare.models.check()).toMatchObject([{ ok: false }]);
});
