/**
 * Uploads before the framework: a request that is plainly one upload is read and answered on Node's own
 * request and response. Anything else — another type, chunks, a body too large or absent, a query —
 * goes on to the framework, whose route (envelopes.ts) brings the same bytes to the same end.
 *
 * The framework's lifecycle is half of what a request costs, and this is the one path that is walked for
 * every envelope (bench/README.md). Address, answers, drain and timeouts are those of every route.
 * Spec: docs/protocol.md "Relay interface".
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import { maxUploadBytes } from "../../shared/limits.ts";
import type { ClientAddress } from "./client-address.ts";
import { type JsonAnswer, jsonType, type RelayHttp } from "./replies.ts";

/** How uploads are read and answered. */
export interface DirectUploadsOptions {
  readonly path: string;
  /** Answers one upload from an address. Never rejects. */
  readonly answer: (bytes: Buffer, address: string) => Promise<JsonAnswer>;
  readonly clientAddress: ClientAddress;
}

/** Puts itself before the framework. */
export function takeUploadsDirectly(app: RelayHttp, options: DirectUploadsOptions): void {
  const { server } = app;
  const { path, answer, clientAddress } = options;
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const length = uploadLength(request, path);
    if (length === undefined) {
      app.routing(request, response);
      return;
    }
    readWhole(request, length, (bytes) => {
      void answer(bytes, clientAddress(request)).then((answered) => {
        // While the server stops, a connection ends with its answer.
        if (!server.listening) response.shouldKeepAlive = false;
        write(response, answered);
      });
    });
  });
}

/** How many bytes the upload has, if this is plainly one. Units: bytes. */
function uploadLength({ method, url, headers }: IncomingMessage, path: string): number | undefined {
  const isUpload =
    url === path && method === "POST" && headers["content-type"] === "application/octet-stream";
  if (!isUpload) return undefined;
  // The parser lets nothing through but digits, once, and no transfer encoding beside them.
  const length = Number(headers["content-length"]);
  return length > 0 && length <= maxUploadBytes ? length : undefined;
}

// A request that breaks off never comes to its end, and nobody waits for it.
function readWhole(
  request: IncomingMessage,
  length: number,
  onBytes: (bytes: Buffer) => void,
): void {
  let whole: Buffer | undefined;
  let at = 0;
  request.on("data", (chunk: Buffer) => {
    if (chunk.length === length) {
      onBytes(chunk);
      return;
    }
    whole ??= Buffer.allocUnsafeSlow(length);
    at += chunk.copy(whole, at);
    if (at === length) onBytes(whole);
  });
}

function write(response: ServerResponse, { status, text, retryAfter }: JsonAnswer): void {
  const headers = ["content-type", jsonType, "content-length", String(Buffer.byteLength(text))];
  if (retryAfter !== undefined) headers.push("retry-after", String(retryAfter));
  response.writeHead(status, headers);
  response.end(text);
}
