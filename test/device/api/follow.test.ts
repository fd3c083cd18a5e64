/** Following an operation of a daemon: steps as they happen, and going away takes it back. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import type { Progress } from "../../../src/device/api/agent-operations.ts";
import { type DaemonClient, findDaemon } from "../../../src/device/api/client.ts";
import { type ApiServer, serveApi } from "../../../src/device/api/server.ts";
import type { AskOptions, DeviceAgent } from "../../../src/device/device.ts";
import { err, ok } from "../../../src/shared/result.ts";
import { fakeDevice } from "../../support/fake-device.ts";

let folder: string;
let server: ApiServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-follow-"));
});
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A daemon whose agent asks like that, and a client of it. */
async function daemon(ask: DeviceAgent["ask"]): Promise<DaemonClient> {
  const fake = fakeDevice();
  server = await serveApi({ ...fake.device, agent: { ...fake.device.agent, ask } }, folder);
  const found = await findDaemon(folder);
  if (!found.ok || found.value === undefined) throw new Error("no daemon");
  return found.value;
}

it("hears every step before the answer is there", async () => {
  const heard = deferred();
  const client = await daemon(async (_question, { onEvent, onQueued } = {}) => {
    onQueued?.(2);
    onEvent?.({ type: "plan", sentence: "I'll look.", handles: [], dropped: [] });
    // Goes on only when the client has heard of the plan: nothing was held back for the end.
    await heard.promise;
    return ok([{ type: "answer", text: "here" }]);
  });
  const steps: Progress[] = [];
  const answer = await client.call(
    "ask",
    { question: "where?" },
    {
      onProgress: (step) => {
        steps.push(step);
        if (step.type === "plan") heard.resolve();
      },
    },
  );
  expect(answer).toEqual({ ok: true, value: [{ type: "answer", text: "here" }] });
  expect(steps).toEqual([
    { type: "queued", ahead: 2 },
    { type: "plan", sentence: "I'll look.", handles: [], dropped: [] },
  ]);
});

it("takes the question back when its asker goes away", async () => {
  const begun = deferred();
  const stopped = deferred();
  const client = await daemon((_question, options) => untilAborted(options, begun, stopped));
  const back = new AbortController();
  const answer = client.call("ask", { question: "where?" }, { signal: back.signal });
  await begun.promise;
  back.abort();
  expect(await answer).toMatchObject({ ok: false, error: { type: "ask-stopped" } });
  await stopped.promise;
});

it("does the same for a program that does not follow and is killed", async () => {
  const begun = deferred();
  const stopped = deferred();
  await daemon((_question, options) => untilAborted(options, begun, stopped));
  const back = new AbortController();
  const post = request({
    socketPath: server?.socketPath,
    path: "/op/ask",
    method: "POST",
    headers: { "content-type": "application/json" },
    signal: back.signal,
  });
  post.on("error", () => undefined);
  post.end(JSON.stringify({ question: "where?" }));
  await begun.promise;
  back.abort();
  await expect(stopped.promise).resolves.toBeUndefined();
});

it("ends with the refusal where there is one", async () => {
  const client = await daemon(() => Promise.resolve(err({ type: "asks-full", message: "full" })));
  const signal = new AbortController().signal;
  expect(await client.call("ask", { question: "?" }, { signal })).toEqual({
    ok: false,
    error: { type: "asks-full", message: "full" },
  });
  const question = "x".repeat(100_001);
  expect(await client.call("ask", { question }, { signal })).toMatchObject({
    ok: false,
    error: { type: "malformed-parameters" },
  });
});

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  const settle = new AbortController();
  const promise = once(settle.signal, "abort").then(() => undefined);
  return { promise, resolve: () => settle.abort() };
}

function untilAborted(
  options: AskOptions | undefined,
  begun: Deferred,
  stopped: Deferred,
): ReturnType<DeviceAgent["ask"]> {
  begun.resolve();
  return new Promise((resolve) => {
    options?.signal?.addEventListener("abort", () => {
      stopped.resolve();
      resolve(ok([]));
    });
  });
}
