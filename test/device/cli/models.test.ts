/** `pixie model …` in front of a device whose models a test plays. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { err, ok } from "../../../src/shared/result.ts";
import type { DeviceModels, ModelsView, ModelView } from "../../../src/device/weights/port.ts";
import { cli, cliJson, type CliRun, type CliSetting } from "../../support/cli.ts";
import { fakeDevice } from "../../support/fake-device.ts";

const tiny: ModelView = {
  name: "tiny",
  use: "chat",
  title: "a model of a test",
  file: "tiny.gguf",
  bytes: 3 * 1_024 ** 2,
  memoryBytes: undefined,
  licence: undefined,
  tried: false,
  installed: true,
  active: false,
};
const view: ModelsView = { folder: "/models", brain: "basic", embedder: undefined, models: [tiny] };
const asked: string[] = [];
const models: DeviceModels = {
  list: async () => view,
  pull: async (name, options) => {
    options?.onProgress?.({ type: "model-progress", doneBytes: 1, totalBytes: 2 });
    return name === "tiny" ? ok(tiny) : err({ type: "unreachable", message: "the hub is away" });
  },
  import: async (file) => {
    asked.push(file);
    return ok({ ...tiny, use: "embedding" });
  },
  use: async (name) => ok({ ...view, brain: name }),
  bench: async () =>
    ok({
      name: "tiny",
      loadMs: 800,
      promptTokens: 500,
      prefillRate: 90.5,
      completionTokens: 60,
      decodeRate: 12.3,
    }),
  check: async () => [
    { ok: true, text: "tiny: whole" },
    { ok: false, text: "tiny: wants more memory" },
  ],
};

let dataDir = "";
let setting: CliSetting;
beforeEach(() => {
  asked.length = 0;
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-model-cli-"));
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path.join(dataDir, "store-key.json"), "{}", { mode: 0o600 });
  const { device } = fakeDevice({ models });
  setting = { dataDir, openDevice: () => Promise.resolve(ok(device)) };
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const run = (...args: readonly string[]): Promise<CliRun> => cli(["model", ...args], setting);

it("lists models with their state, and what answers", async () => {
  const listed = await run("list");
  expect(listed).toMatchObject({ code: 0 });
  expect(listed.out).toContain(
    "tiny             here        3 MiB  a model of a test (not tried by us)",
  );
  expect(listed.err).toContain("answers: basic; reads meaning: no model (pixie model pull minilm)");
  expect(await cliJson(["model", "list"], setting)).toMatchObject({ brain: "basic" });
});

it("pulls, and says what to do next", async () => {
  expect(await run("pull", "tiny")).toMatchObject({ code: 0, out: "tiny is installed\n" });
  expect((await run("pull", "tiny")).err).toContain("pixie model use tiny lets it answer");
  expect(await run("pull", "other")).toMatchObject({ code: 5, out: "" });
});

it("imports by an absolute path", async () => {
  expect((await run("import", "./some.gguf")).err).toContain("searches by meaning from now on");
  expect(asked).toEqual([path.resolve("some.gguf")]);
});

it("chooses, measures and checks", async () => {
  expect((await run("use", "tiny")).out).toBe("tiny answers now\n");
  expect((await run("bench")).out).toBe(
    "load     800 ms\nprefill  90.5 tokens/s (a prompt of 500)\ndecode   12.3 tokens/s (an answer of 60)\n",
  );
  expect(await run("doctor")).toMatchObject({
    code: 4,
    out: "ok       tiny: whole\nPROBLEM  tiny: wants more memory\n",
  });
});

it("stops when the person does, and says that it goes on later", async () => {
  const waiting: DeviceModels = {
    ...models,
    pull: (_name, { signal } = {}) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () =>
          resolve(err({ type: "aborted", message: "stopped" })),
        );
      }),
  };
  const { device } = fakeDevice({ models: waiting });
  const stopped = await cli(["model", "pull", "tiny"], {
    ...setting,
    openDevice: () => Promise.resolve(ok(device)),
    stopped: Promise.resolve(),
  });
  expect(stopped).toMatchObject({ code: 4, out: "" });
  expect(stopped.err).toContain("what came is kept");
});
