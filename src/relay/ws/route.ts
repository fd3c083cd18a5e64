/**
 * `/v1/device`: ties a WebSocket to a DeviceConnection. Handlers are attached in the same turn in
 * which the socket opens; anything awaited first would lose an early frame (R10).
 *
 * An idle connection must not hold what its upgrade was made of: the response is let go of before the
 * upgrade, and the plugin's listener, which holds request and reply, gives way to ours. That is 4 KB of
 * 14 (bench/README.md).
 */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";

import type { Clock } from "../../shared/clock.ts";
import { refusal } from "../../shared/wire/errors.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import { addressOf, type RelayHttp, sendRefusal } from "../http/replies.ts";
import { type ConnectionPorts, DeviceConnection } from "./device-connection.ts";
import type { DeviceSocket } from "./device-socket.ts";

/** Bytes of the largest frame that a device sends: a list of 255 entries in base64url. */
export const maxDeviceFrameBytes = 32_768;

/** Adds the route. Upgrades beyond the address's rate are refused before they happen. */
export function registerDeviceRoute(
  app: RelayHttp,
  ports: ConnectionPorts,
  limit: { readonly address: RateLimit; readonly clock: Clock },
): void {
  app.route({
    method: "GET",
    url: "/v1/device",
    schema: { hide: true },
    preValidation: async (request, reply) => {
      const waitMs = limit.address(addressOf(request));
      if (waitMs > 0) {
        const refused = refusal("rate-limited", "too many connections from this address: wait", {
          retryAfterMs: waitMs,
        });
        await sendRefusal(reply, limit.clock, refused);
      } else if (request.ws) {
        reply.raw.detachSocket(request.raw.socket);
      }
    },
    handler: (_request, reply) => reply.callNotFound(),
    wsHandler: (socket, request) => {
      socket.removeAllListeners("error");
      attach(socket, request.raw.socket, ports);
    },
  });
}

function attach(socket: WebSocket, wire: Socket, ports: ConnectionPorts): void {
  const connection = new DeviceConnection(socketPort(socket, wire), ports);
  socket.on("message", (data, isBinary) => {
    connection.receive(isBinary ? undefined : textOf(data));
  });
  socket.on("pong", () => connection.pong());
  socket.on("close", () => connection.closed());
  // After a frame that breaks the protocol nobody waits for the other side's goodbye.
  socket.on("error", (error) => {
    ports.runtime.onEvent("socket-error", codeOf(error));
    socket.terminate();
  });
}

function socketPort(socket: WebSocket, wire: Socket): DeviceSocket {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (data) => {
      corkForTurn(wire);
      socket.send(data);
    },
    ping: () => socket.ping(),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  };
}

// What is sent in one turn leaves in one system call: a batch holds several items for a busy device.
function corkForTurn(wire: Socket): void {
  if (wire.writableCorked > 0) return;
  wire.cork();
  process.nextTick(() => wire.uncork());
}

function textOf(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.isBuffer(data) ? data.toString("utf8") : Buffer.from(data).toString("utf8");
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
