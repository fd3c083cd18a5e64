/**
 * `pixie model …`: which models there are, bringing one, choosing which brain answers, measuring and
 * checking. A model's files are handled by the device, so that a daemon does the same as a command.
 *
 * Spec: docs/operating.md "Models".
 */
import path from "node:path";

import type { Command } from "commander";

import { ok, type Result } from "../../shared/result.ts";
import type { Progress } from "../api/agent-operations.ts";
import type { ResultOf } from "../api/operations.ts";
import type { Session } from "../api/session.ts";
import type { DeviceError } from "../device.ts";
import { addCommand, type CliParts, type Invocation, type Outcome } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { stopSignal } from "./followed-turn.ts";
import { visibleLine } from "./visible.ts";

type ModelRow = ResultOf<"models">["models"][number];

/** Adds `model` and its commands. */
export function registerModelGroup(program: Command, parts: CliParts): void {
  const model = program.command("model").description("language models on this machine");
  addCommand(model, parts, {
    usage: "list",
    about: "list models, which of them are here, and which one answers",
    examples: ["pixie model list"],
    run: ({ withSession }) => withSession({ connect: false }, list),
  });
  addCommand(model, parts, {
    usage: "pull <name>",
    about: "download a model; stopping keeps what came, and the next pull goes on",
    examples: ["pixie model pull minilm", "pixie model pull qwen-coder-1.5b"],
    run: (invocation) => bring(invocation, "pull-model"),
  });
  addCommand(model, parts, {
    usage: "import <file>",
    about: "take a GGUF file that is on this machine",
    examples: ["pixie model import ./qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"],
    run: (invocation) => bring(invocation, "import-model"),
  });
  addCommand(model, parts, {
    usage: "use <name>",
    about: "let a model answer from now on, or basic; it is hashed and tried first",
    examples: ["pixie model use qwen-coder-1.5b", "pixie model use basic"],
    run: (invocation) =>
      invocation.withSession({ connect: false }, async (session) => {
        const name = invocation.argument(0) ?? "";
        const signal = stopSignal(invocation);
        const used = await session.call("use-model", { name }, { signal });
        if (!used.ok) return stopped(used, signal);
        return ok({ json: used.value, lines: [`${visibleLine(used.value.brain)} answers now`] });
      }),
  });
  addCommand(model, parts, {
    usage: "bench [name]",
    about: "measure loading, reading and writing; without a name, the model in use",
    examples: ["pixie model bench", "pixie model bench smollm2"],
    run: bench,
  });
  addCommand(model, parts, {
    usage: "doctor",
    about: "look whether models are whole, fit this machine and answer",
    examples: ["pixie model doctor"],
    run: ({ withSession }) => withSession({ connect: false }, check),
  });
}

async function list(session: Session): Promise<Outcome> {
  const listed = await session.call("models", {});
  if (!listed.ok) return listed;
  const { brain, embedder, folder, models } = listed.value;
  return ok({
    json: listed.value,
    lines: models.map(rowLine),
    notes: [
      `answers: ${brain}; reads meaning: ${embedder ?? "no model (pixie model pull minilm)"}`,
      `folder: ${folder}`,
    ],
  });
}

function rowLine({ name, active, installed, bytes, title, tried, licence }: ModelRow): string {
  const state = active ? "in use" : installed ? "here" : "";
  const size = `${Math.ceil(bytes / 1_024 ** 2)} MiB`;
  const remarks = [...(licence === null ? [] : [licence]), ...(tried ? [] : ["not tried by us"])];
  return visibleLine(
    `${name.padEnd(16)} ${state.padEnd(7)} ${size.padStart(9)}  ${title} (${remarks.join(", ")})`,
  );
}

async function bring(
  invocation: Invocation,
  operation: "pull-model" | "import-model",
): Promise<Outcome> {
  const argument = invocation.argument(0) ?? "";
  return await invocation.withSession({ connect: false }, async (session) => {
    const signal = stopSignal(invocation);
    const bar = invocation.io.byteBar(visibleLine(path.basename(argument)));
    const onProgress = (progress: Progress): void => {
      if (progress.type === "model-progress") bar.update(progress.doneBytes, progress.totalBytes);
    };
    const following = { signal, onProgress };
    const brought =
      operation === "pull-model"
        ? await session.call(operation, { name: argument }, following)
        : await session.call(operation, { file: path.resolve(argument) }, following);
    bar.stop();
    if (!brought.ok) return stopped(brought, signal);
    const { name, use } = brought.value;
    const shown = visibleLine(name);
    return ok({
      json: brought.value,
      lines: [`${shown} is installed`],
      notes: [
        use === "embedding"
          ? `${shown} chooses skills and searches by meaning from now on`
          : `pixie model use ${shown} lets it answer`,
      ],
    });
  });
}

async function bench(invocation: Invocation): Promise<Outcome> {
  return await invocation.withSession({ connect: false }, async (session) => {
    const signal = stopSignal(invocation);
    const name = invocation.argument(0);
    const params = name === undefined ? {} : { name };
    const measured = await session.call("bench-model", params, { signal });
    if (!measured.ok) return stopped(measured, signal);
    const { loadMs, promptTokens, prefillRate, completionTokens, decodeRate } = measured.value;
    return ok({
      json: measured.value,
      lines: [
        `load     ${loadMs} ms`,
        `prefill  ${prefillRate} tokens/s (a prompt of ${promptTokens})`,
        `decode   ${decodeRate} tokens/s (an answer of ${completionTokens})`,
      ],
    });
  });
}

async function check(session: Session): Promise<Outcome> {
  const found = await session.call("check-models", {});
  if (!found.ok) return found;
  const well = found.value.every((finding) => finding.ok);
  return ok({
    json: found.value,
    lines: found.value.map((finding) =>
      visibleLine(`${finding.ok ? "ok     " : "PROBLEM"}  ${finding.text}`),
    ),
    exitCode: well ? exitCodes.ok : exitCodes.refused,
  });
}

/** A person who stopped it is told that what came is kept. */
function stopped(
  failed: Extract<Result<never, DeviceError>, { ok: false }>,
  signal: AbortSignal,
): Outcome {
  if (!signal.aborted) return failed;
  const message = "stopped; what came is kept, the same command goes on";
  return { ok: false, error: { type: "aborted", message } };
}
