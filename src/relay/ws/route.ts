/**
 * `/v1/device`: ties a WebSocket to a DeviceConnection. Handlers are attached in the same turn in
 * which the socket opens; anything awaited first would lose an early frame (R10).
 *
 * Upgrades do not pass through the framework: what it makes of a request would live as long as the
 * connection (bench/README.md). Compression is off: ciphertext does not compress, and it holds 239 KB
 * per connection.
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

import type { Clock } from "../../shared/clock.ts";
import { refusal } from "../../shared/wire/errors.ts";
import type { RateLimit } from "../delivery/rate-limit.ts";
import { type JsonAnswer, jsonType, refusalAnswer, unknownPath } from "../http/replies.ts";
import { type ConnectionPorts, DeviceConnection } from "./device-connection.ts";
import type { DeviceSocket } from "./device-socket.ts";

/** Bytes of the largest frame that a device sends: a list of 255 entries in base64url. */
const maxDeviceFrameBytes = 32_768;

/** Who may open a connection. */
export interface UpgradeLimit {
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly address: RateLimit;
  readonly clock: Clock;
}

/** Takes upgrades. Those beyond the address's rate are refused before they happen. */
export function registerDeviceRoute(
  server: Server,
  ports: ConnectionPorts,
  limit: UpgradeLimit,
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxDeviceFrameBytes,
    perMessageDeflate: false,
  });
  server.on("upgrade", (request: IncomingMessage, wire: Duplex, head: Buffer) => {
    const refused = upgradeRefusal(request, limit);
    if (refused !== undefined) refuseUpgrade(wire, refused);
    else sockets.handleUpgrade(request, wire, head, (socket) => attach(socket, wire, ports));
  });
}

function upgradeRefusal(
  request: IncomingMessage,
  { clientAddress, address, clock }: UpgradeLimit,
): JsonAnswer | undefined {
  const [path] = (request.url ?? "").split("?", 1);
  if (path !== "/v1/device") return refusalAnswer(unknownPath(), clock);
  const waitMs = address(clientAddress(request));
  if (waitMs === 0) return undefined;
  const refused = refusal("rate-limited", "too many connections from this address: wait", {
    retryAfterMs: waitMs,
  });
  return refusalAnswer(refused, clock);
}

// No response belongs to an upgrade: what is said instead is written as it goes over the wire.
function refuseUpgrade(wire: Duplex, { status, text, retryAfter }: JsonAnswer): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "connection: close",
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(text)}`,
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
  ];
  wire.on("error", () => wire.destroy());
  wire.end(`${head.join("\r\n")}\r\n\r\n${text}`, () => wire.destroy());
}

function attach(socket: WebSocket, wire: Duplex, ports: ConnectionPorts): void {
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

function socketPort(socket: WebSocket, wire: Duplex): DeviceSocket {
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
function corkForTurn(wire: Duplex): void {
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
