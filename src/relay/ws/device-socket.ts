/**
 * The socket under a mailbox connection, and the two things that a peer may not make the relay do:
 * hold more bytes than it reads, and wait for the end of a close. When to send and when to close is
 * device-connection.ts.
 */
import type { Clock } from "../../shared/clock.ts";
import type { CloseCode } from "./close-codes.ts";

/** The part of a WebSocket that a connection uses. */
export interface DeviceSocket {
  readonly bufferedAmount: number;
  readonly send: (data: string | Uint8Array) => void;
  readonly ping: () => void;
  readonly close: (code: CloseCode, reason: string) => void;
  readonly terminate: () => void;
}

/** Unsent bytes at which a peer that does not read is cut, the next frame included (R36). */
const maxBufferedBytes = 2 * 1_048_576;
/** Time for the other side to answer a close before the socket is cut. Units: ms. */
const closeMs = 5_000;

/** Whether a frame of that many bytes is one too many for a peer that does not read. */
export function isBacklogged(socket: DeviceSocket, frameBytes: number): boolean {
  return socket.bufferedAmount + frameBytes > maxBufferedBytes;
}

/** Closes, and cuts the socket when nobody answers the close. */
export function closeSocket(
  socket: DeviceSocket,
  code: CloseCode,
  reason: string,
  clock: Clock,
): void {
  socket.close(code, reason);
  clock.schedule(closeMs, () => socket.terminate());
}
