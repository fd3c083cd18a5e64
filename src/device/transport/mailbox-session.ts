/**
 * One WebSocket to a mailbox, from the upgrade to its end: challenge, proof, `ready`, then
 * deliveries and replies. It ends exactly once, with a reason a person can act on, and never comes
 * back: reconnecting is `mailbox-connection.ts`.
 *
 * Handlers are attached in the same turn as the socket is made, so a frame that arrives in the same
 * packet as the upgrade is processed. Frames are never logged: they may hold anything.
 *
 * Spec: docs/protocol.md "The mailbox connection".
 */
import { type RawData, WebSocket } from "ws";
import type { Clock } from "../../shared/clock.ts";
import {
  bodyOverheadBytes,
  bucketBytes,
  headerBytes,
  pingIntervalMs,
} from "../../shared/limits.ts";
import type { RefusalCode } from "../../shared/wire/errors.ts";
import type { AckFrame, AuthFrame, RequestFrame } from "../../shared/wire/frames.ts";
import { networkReason } from "./http-exchange.ts";
import { createFrameReader, type FrameEvents } from "./mailbox-frames.ts";
import type { MailboxIdentity } from "./port.ts";

/** Why a session ended. `upgraded` tells whether a WebSocket was ever there. */
export type SessionEnd =
  | { readonly type: "lost"; readonly reason: string; readonly upgraded: boolean }
  | { readonly type: "upgrade-refused"; readonly status: number }
  | { readonly type: "refused"; readonly code: RefusalCode; readonly message: string }
  | { readonly type: "displaced" };

/** What a session tells its owner, in order; `onEnd` is last and comes once. */
export interface SessionEvents extends Pick<
  FrameEvents,
  "onReady" | "onDelivery" | "onDrained" | "onReply"
> {
  readonly onEnd: (end: SessionEnd) => void;
}

/** An open session. Sending on one that has ended does nothing. */
export interface MailboxSession {
  readonly send: (frame: AckFrame | RequestFrame) => void;
  /** Ends it without a word to its owner about why. */
  readonly abandon: (reason: string) => void;
  /** Says goodbye, and resolves when the socket is gone. */
  readonly close: () => Promise<void>;
}

/** From the first byte to `ready`. The relay gives 10 s for the proof alone. */
const handshakeMs = 20_000;
const goodbyeMs = 2_000;
const maxMissedPongs = 2;
/** The largest frame of a relay: a delivery in the largest bucket. */
const maxFrameBytes = 9 + 2 + headerBytes + Math.max(...bucketBytes) + bodyOverheadBytes;

/** Connects and authenticates. */
export function openMailboxSession(
  clock: Clock,
  identity: MailboxIdentity,
  events: SessionEvents,
): MailboxSession {
  const socket = new WebSocket(socketUrl(identity.relayOrigin), {
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
    followRedirects: false,
  });
  let ended = false;
  let upgraded = false;
  let stopTimers = clock.schedule(handshakeMs, () =>
    lose(`the relay did not admit this device within ${handshakeMs / 1_000} s`),
  );

  function end(reason: SessionEnd): void {
    if (ended) return;
    ended = true;
    stopTimers();
    socket.terminate();
    events.onEnd(reason);
  }
  function lose(reason: string): void {
    end({ type: "lost", reason, upgraded });
  }
  function send(frame: AuthFrame | AckFrame | RequestFrame): void {
    if (!ended) socket.send(JSON.stringify(frame));
  }

  const reader = createFrameReader(identity, send, {
    ...events,
    onReady: (ready) => {
      stopTimers();
      stopTimers = keepAlive(clock, socket, lose);
      events.onReady(ready);
    },
    onDisplaced: () => end({ type: "displaced" }),
    onRefused: (code, message) => end({ type: "refused", code, message }),
    onViolation: lose,
  });
  watch(socket, clock, {
    opened: () => {
      upgraded = true;
    },
    frame: (bytes, isBinary) => {
      if (!ended) (isBinary ? reader.binary : reader.text)(bytes);
    },
    upgradeRefused: (status) => end({ type: "upgrade-refused", status }),
    closed: lose,
  });

  return {
    send,
    abandon: lose,
    close: () => {
      ended = true;
      stopTimers();
      return goodbye(socket, clock);
    },
  };
}

interface SocketWatcher {
  readonly opened: () => void;
  readonly frame: (bytes: Uint8Array, isBinary: boolean) => void;
  readonly upgradeRefused: (status: number) => void;
  readonly closed: (reason: string) => void;
}

function watch(socket: WebSocket, clock: Clock, watcher: SocketWatcher): void {
  const startedMs = clock.nowMs();
  let failure: string | undefined;
  socket.on("open", watcher.opened);
  socket.on("message", (data: RawData, isBinary: boolean) => {
    watcher.frame(plainBytes(data), isBinary);
  });
  socket.on("unexpected-response", (request, response) => {
    request.destroy();
    watcher.upgradeRefused(response.statusCode ?? 0);
  });
  // Every error is followed by `close`, which ends the session with this reason.
  socket.on("error", (error) => {
    failure ??= networkReason(error);
  });
  socket.on("close", (code) => {
    watcher.closed(failure ?? closeReason(code, clock.nowMs() - startedMs));
  });
}

function goodbye(socket: WebSocket, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState === WebSocket.CLOSED) return resolve();
    const cancel = clock.schedule(goodbyeMs, () => socket.terminate());
    socket.once("close", () => {
      cancel();
      resolve();
    });
    socket.close(1000);
  });
}

// Traffic does not count as a sign of life: only a pong proves that the relay reads what we send.
function keepAlive(clock: Clock, socket: WebSocket, lose: (reason: string) => void): () => void {
  let missed = 0;
  let cancel = clock.schedule(pingIntervalMs, tick);
  socket.on("pong", () => {
    missed = 0;
  });
  function tick(): void {
    if (missed >= maxMissedPongs) return lose("the relay stopped answering pings");
    missed += 1;
    socket.ping();
    cancel = clock.schedule(pingIntervalMs, tick);
  }
  return () => cancel();
}

function closeReason(code: number, afterMs: number): string {
  const seconds = Math.round(afterMs / 1_000);
  if (code === 1001) return "the relay is restarting";
  if (code === 1009) return "the relay sent a frame over the protocol's limit";
  if (code === 1006) {
    return `the connection was cut after ${seconds} s; if that repeats at the same age, a proxy's idle limit does it`;
  }
  return `the relay closed the connection after ${seconds} s (code ${code})`;
}

function plainBytes(data: RawData): Uint8Array {
  // A Buffer's slice would share the socket's memory; a plain view makes the codecs copy.
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  const joined = Array.isArray(data) ? Buffer.concat(data) : data;
  return new Uint8Array(joined.buffer, joined.byteOffset, joined.byteLength);
}

function socketUrl(origin: string): string {
  const url = new URL("/v1/device", origin);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
