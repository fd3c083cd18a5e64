/**
 * A device's connection through the proxy: upgrade, authentication, the largest delivery, and then
 * silence for as long as asked, in which only pings pass. A proxy that cuts a quiet connection does so
 * without a word (O13), and one that drops upgrades lets everything else work (O12).
 */
import { once } from "node:events";

import { WebSocket } from "ws";

import { err, ok, type Result } from "../../../shared/result.ts";
import { parseDelivery, parseRelayFrame, type RelayFrame } from "../../../shared/wire/frames.ts";
import { serverName } from "./ask.ts";
import type { DoctorAccount } from "./doctor-account.ts";

/** Why there is no connection. */
export type ConnectionFault =
  /** The handshake ended otherwise: an HTTP status, or the network's word. */
  | { readonly type: "upgrade"; readonly reason: string; readonly server: string | undefined }
  /** The relay does not know this device. */
  | { readonly type: "unknown-device" }
  /** Connected, and then not what was expected. */
  | { readonly type: "conversation"; readonly reason: string };

/** A device's connection. */
export interface DoctorConnection {
  /** Waits for an item and acknowledges it; undefined once it is there, else why it is not. */
  readonly takeItem: () => Promise<string | undefined>;
  /** Stays silent. Units: ms. */
  readonly idle: (forMs: number) => Promise<Idle>;
  readonly close: () => void;
}

/** How the silence ended. Units: ms. */
export interface Idle {
  readonly lastedMs: number;
  readonly pings: number;
  /** The close code when the connection was cut. */
  readonly cut: number | undefined;
}

const answerMs = 15_000;

/** Connects as the doctor's device. */
export async function connectDoctor(
  url: string,
  account: DoctorAccount,
): Promise<Result<DoctorConnection, ConnectionFault>> {
  const target = `${url.replace(/^http/, "ws")}/v1/device`;
  const socket = new WebSocket(target, { handshakeTimeout: answerMs, perMessageDeflate: false });
  const frames = new Frames(socket);
  const refused = await opened(socket);
  if (refused !== undefined) return err(refused);
  const challenge = await frames.next("challenge");
  if (typeof challenge === "string") return lost(socket, challenge);
  socket.send(account.answer(challenge));
  const ready = await frames.next("ready");
  if (typeof ready === "string") {
    return ready.includes("unauthorised") ? err({ type: "unknown-device" }) : lost(socket, ready);
  }
  return ok({
    takeItem: async () => {
      const item = await frames.item();
      if (typeof item === "string") return item;
      socket.send(JSON.stringify({ type: "ack", epoch: ready.epoch, seqs: [String(item)] }));
      return undefined;
    },
    idle: (forMs) => idle(socket, forMs),
    close: () => socket.close(),
  });
}

function lost(socket: WebSocket, reason: string): Result<never, ConnectionFault> {
  socket.terminate();
  return err({ type: "conversation", reason });
}

/** Undefined once the socket is open. */
function opened(socket: WebSocket): Promise<ConnectionFault | undefined> {
  return new Promise((resolve) => {
    socket.once("open", () => resolve(undefined));
    socket.once("unexpected-response", (_request, response) => {
      const { statusCode, headers } = response;
      resolve({ type: "upgrade", reason: `HTTP ${statusCode}`, server: serverName(headers) });
      response.resume();
      socket.terminate();
    });
    socket.on("error", (cause) =>
      resolve({ type: "upgrade", reason: cause.message, server: undefined }),
    );
  });
}

async function idle(socket: WebSocket, forMs: number): Promise<Idle> {
  let pings = 0;
  socket.on("ping", () => (pings += 1));
  const began = performance.now();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), forMs);
  const cut = await once(socket, "close", { signal: over.signal }).then(
    ([code]: unknown[]) => Number(code),
    () => undefined,
  );
  clearTimeout(timer);
  return { lastedMs: Math.round(performance.now() - began), pings, cut };
}

/** What arrives, awaited one at a time. Few frames arrive: the relay's window bounds them. */
class Frames {
  readonly #frames: RelayFrame[] = [];
  readonly #items: bigint[] = [];
  #ended: string | undefined;
  #arrived = (): void => {};

  constructor(socket: WebSocket) {
    socket.on("message", (data: Buffer, isBinary) => {
      this.#keep(data, isBinary);
      this.#arrived();
    });
    socket.on("error", (cause) => this.#end(cause.message));
    socket.on("close", (code) => this.#end(`the connection ended with ${code}`));
  }

  /** The next frame of that type, or why none comes. */
  async next<T extends RelayFrame["type"]>(
    type: T,
  ): Promise<Extract<RelayFrame, { type: T }> | string> {
    const isWanted = (frame: RelayFrame): frame is Extract<RelayFrame, { type: T }> =>
      frame.type === type;
    return this.#take(() => this.#frames.find(isWanted), `a ${type} frame`);
  }

  /** The number of the next item, or why none comes. */
  async item(): Promise<bigint | string> {
    return this.#take(() => this.#items.shift(), "an item");
  }

  async #take<T>(find: () => T | undefined, what: string): Promise<T | string> {
    const late = AbortSignal.timeout(answerMs);
    late.addEventListener("abort", () => this.#arrived());
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#ended !== undefined) return this.#ended;
      if (late.aborted) return `no ${what.replace(/^an? /, "")} came within ${answerMs / 1000} s`;
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }

  #keep(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      const delivery = parseDelivery(data);
      if (delivery.ok) this.#items.push(delivery.value.seq);
      return;
    }
    const frame = parseRelayFrame(data.toString("utf8"));
    if (!frame.ok) return;
    if (frame.value.type === "refused") this.#ended = `refused: ${frame.value.error}`;
    this.#frames.push(frame.value);
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    this.#arrived();
  }
}
