/**
 * The route of operations: JSON in, the answer out. A client that accepts `application/x-ndjson` gets
 * a line for every step of the operation while it runs, and the answer as the last line.
 *
 * A client that goes away takes its operation back: nobody is left to read the answer.
 * Spec: docs/operating.md "Local API".
 */
import type { ServerResponse } from "node:http";

import type { FastifyInstance } from "fastify";

import type { Device } from "../device.ts";
import { isOperationName, type OperationName } from "./operations.ts";
import { createPerformer } from "./perform.ts";

/** Media type of answers that come line by line. */
export const lineType = "application/x-ndjson";
/** A client that lets this much pile up is cut. Units: bytes. */
export const maxUnreadBytes = 1_048_576;

/** Adds `POST /op/<name>` over one device. */
export function addOperations(app: FastifyInstance, device: Device): void {
  const { performUnknown } = createPerformer(device);
  app.post<{ Params: { name: string } }>("/op/:name", async (request, reply) => {
    const { name } = request.params;
    if (!isOperationName(name)) {
      const error = { type: "no-such-operation", message: `there is no operation ${name}` };
      return reply.code(404).send({ ok: false, error });
    }
    const signal = goneSignal(reply.raw);
    if (request.headers.accept === lineType) {
      reply.hijack();
      const write = lineWriter(reply.raw);
      write(
        await performUnknown(name, request.body, {
          signal,
          onProgress: (progress) => write({ progress }),
        }),
      );
      reply.raw.end();
      return reply;
    }
    const answer = await performUnknown<OperationName>(name, request.body, { signal });
    return reply.code(answer.ok ? 200 : 422).send(answer);
  });
}

/** Aborts when the client goes away before it was answered. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

function lineWriter(response: ServerResponse): (line: unknown) => void {
  // Writing to a client that has gone raises EPIPE here, and only here.
  response.on("error", () => response.destroy());
  response.writeHead(200, { "content-type": lineType });
  response.flushHeaders();
  return (line) => {
    if (response.writableLength > maxUnreadBytes) response.destroy();
    else response.write(`${JSON.stringify(line)}\n`);
  };
}
