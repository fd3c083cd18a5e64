/**
 * Talks to a daemon over its socket. Answers are parsed against the same table that the daemon
 * performs from, so a daemon of another release is noticed instead of misread.
 *
 * It starts no daemon and falls back to nothing (session.ts does). Spec: docs/operating.md "Local
 * API".
 */
import { type IncomingMessage, request as httpRequest } from "node:http";

import { Type } from "typebox";
import { Value } from "typebox/value";

import { err, ok, type Result } from "../../shared/result.ts";
import { softwareVersion } from "../../shared/wire/version.ts";
import type { DeviceError } from "../device.ts";
import type { Following } from "./agent-operations.ts";
import { follow } from "./follow.ts";
import { type OperationName, operations, type ParamsOf, type ResultOf } from "./operations.ts";
import type { Answer, Performer } from "./perform.ts";
import { findSocket } from "./socket-path.ts";

/** A daemon that answered. */
export interface DaemonClient {
  readonly pid: number;
  readonly call: Performer["perform"];
  /** Calls `onLine` with the JSON of every change until the signal aborts or the daemon ends. */
  readonly events: (onLine: (json: string) => void, signal: AbortSignal) => Promise<void>;
}

const daemonIdentity = Type.Object({ version: Type.String(), pid: Type.Integer() });
const success = Type.Object({ ok: Type.Literal(true), value: Type.Unknown() });
const failure = Type.Object({
  ok: Type.Literal(false),
  error: Type.Object({ type: Type.String(), message: Type.String() }),
});

/** A daemon answers this at once; longer means that it hangs. Units: ms. */
const greetingMs = 5_000;

/**
 * The daemon of a data folder; `undefined` when none listens there. Errors: one listens and is of
 * another release, or does not answer.
 */
export async function findDaemon(
  dataDir: string,
  patienceMs: number = greetingMs,
): Promise<Result<DaemonClient | undefined, DeviceError>> {
  const socketPath = findSocket(dataDir);
  if (socketPath === undefined) return ok(undefined);
  const greeting = await exchange({ socketPath, method: "GET", path: "/daemon" }, patienceMs);
  if (!greeting.ok) {
    // Nobody behind the socket: its daemon was killed, and the next one cleans up.
    const gone = ["ECONNREFUSED", "ENOENT"].includes(greeting.error.code);
    return gone ? ok(undefined) : err(unusable(`it does not answer (${greeting.error.code})`));
  }
  if (!Value.Check(daemonIdentity, greeting.value)) return err(unusable("it is no pixie daemon"));
  const { version, pid } = greeting.value;
  if (version !== softwareVersion) {
    return err({
      type: "daemon-version",
      message: `the daemon (process ${pid}) is version ${version}, this is ${softwareVersion}: restart the daemon`,
    });
  }
  return ok({
    pid,
    call: (name, params, following) => call(socketPath, name, params, following),
    events: (onLine, signal) => listen(socketPath, onLine, signal),
  });
}

async function call<Name extends OperationName>(
  socketPath: string,
  name: Name,
  params: ParamsOf<Name>,
  following: Following | undefined,
): Answer<Name> {
  const target = { socketPath, path: `/op/${name}` };
  const body = JSON.stringify(params);
  if (following !== undefined) {
    const told = await follow({ ...target, body }, following);
    if (told.ok) return answerIn(name, told.value);
    return err(told.error === "taken-back" ? takenBack : unusable("it went away"));
  }
  const reply = await exchange({ ...target, method: "POST" }, undefined, body);
  return reply.ok
    ? answerIn(name, reply.value)
    : err(unusable(`it went away (${reply.error.code})`));
}

function answerIn<Name extends OperationName>(
  name: Name,
  reply: unknown,
): Result<ResultOf<Name>, DeviceError> {
  if (Value.Check(failure, reply)) return err(reply.error);
  if (Value.Check(success, reply) && isResult(name, reply.value)) return ok(reply.value);
  return err(unusable(`its answer to ${name} has another form than expected`));
}

function isResult<Name extends OperationName>(name: Name, value: unknown): value is ResultOf<Name> {
  return Value.Check(operations[name].result, value);
}

interface Target {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
}

function exchange(
  target: Target,
  timeoutMs?: number,
  body?: string,
): Promise<Result<unknown, { readonly code: string }>> {
  return new Promise((resolve) => {
    const fail = (cause: unknown): void => resolve(err({ code: codeOf(cause) }));
    const request = httpRequest({
      ...target,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    });
    request.on("error", fail);
    request.on("response", (response) => {
      readJson(response).then((json) => resolve(ok(json)), fail);
    });
    request.end(body);
  });
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function listen(
  socketPath: string,
  onLine: (json: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, path: "/events", signal });
    request.on("error", (cause) => (signal.aborted ? resolve() : reject(cause)));
    request.on("response", (response) => {
      let pending = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const lines = `${pending}${chunk}`.split("\n");
        pending = lines.pop() ?? "";
        for (const line of lines) onLine(line);
      });
      // The daemon ended: however it did, there is nothing more to hear.
      response.on("error", () => resolve());
      response.on("close", () => resolve());
    });
    request.end();
  });
}

function codeOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.name : "unknown";
}

const takenBack: DeviceError = {
  type: "ask-stopped",
  message: "taken back before the answer came: what was done is in pixie runs list",
};

function unusable(reason: string): DeviceError {
  return {
    type: "daemon-trouble",
    message: `a daemon listens for this data folder, but ${reason}: restart it`,
  };
}
