/**
 * The daemon's local API: one device's operations over HTTP on a unix socket, for other programs of
 * the same user. The folder is 0700 and the socket 0600, so the file system does the authentication;
 * no web page can reach a socket file (O15).
 *
 * POST /op/<name> takes and answers JSON; GET /events streams one JSON line per change. A client that
 * goes away, in the middle of whatever, concerns nobody else (O5).
 * Spec: docs/operating.md "Local API".
 */
import { chmodSync } from "node:fs";
import type { ServerResponse } from "node:http";

import fastify, { type FastifyInstance } from "fastify";

import { softwareVersion } from "../../shared/wire/version.ts";
import type { Device } from "../device.ts";
import { addOperations, lineType, maxUnreadBytes } from "./operation-route.ts";
import { claimSocketPlace } from "./socket-path.ts";

/** A listening local API. */
export interface ApiServer extends AsyncDisposable {
  readonly socketPath: string;
  readonly close: () => Promise<void>;
}

/** What a daemon answers to GET /daemon. */
export interface DaemonIdentity {
  readonly version: string;
  readonly pid: number;
}

/** Texts of a skill and its neighbours fit many times over. Units: bytes. */
const maxBodyBytes = 4 * 1_048_576;
/** Clients that listen to changes at a time; a further one is refused. */
const maxListeners = 32;

/** Listens for the clients of a device. Only whoever holds the folder's lock may call it. */
export async function serveApi(device: Device, dataDir: string): Promise<ApiServer> {
  const place = claimSocketPlace(dataDir);
  const app = fastify({ bodyLimit: maxBodyBytes, forceCloseConnections: true });
  const identity: DaemonIdentity = { version: softwareVersion, pid: process.pid };
  app.get("/daemon", () => identity);
  addOperations(app, device);
  const stopEvents = addEvents(app, device);
  try {
    await app.listen({ path: place.path });
    chmodSync(place.path, 0o600);
  } catch (cause) {
    stopEvents();
    place[Symbol.dispose]();
    throw cause;
  }
  const close = async (): Promise<void> => {
    stopEvents();
    await app.close();
    place[Symbol.dispose]();
  };
  return { socketPath: place.path, close, [Symbol.asyncDispose]: close };
}

/** Adds the stream of changes. Returns what ends every stream. */
function addEvents(app: FastifyInstance, device: Device): () => void {
  const listeners = new Set<ServerResponse>();
  const forget = (stream: ServerResponse): void => {
    listeners.delete(stream);
    stream.destroy();
  };
  const unsubscribe = device.onEvent((event) => {
    const line = `${JSON.stringify(event)}\n`;
    for (const stream of listeners) {
      if (stream.writableLength > maxUnreadBytes) forget(stream);
      else stream.write(line);
    }
  });
  app.get("/events", (_request, reply) => {
    if (listeners.size >= maxListeners) {
      const error = { type: "too-many-listeners", message: `expected at most ${maxListeners}` };
      return reply.code(503).send({ ok: false, error });
    }
    reply.hijack();
    const stream = reply.raw;
    // Writing to a client that has gone raises EPIPE here, and only here.
    stream.on("error", () => forget(stream));
    stream.on("close", () => forget(stream));
    stream.writeHead(200, { "content-type": lineType });
    stream.flushHeaders();
    listeners.add(stream);
    return reply;
  });
  return () => {
    unsubscribe();
    for (const stream of listeners) forget(stream);
  };
}
