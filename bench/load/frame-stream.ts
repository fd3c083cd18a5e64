/**
 * Cuts what arrives on a socket into frames of any protocol. Bytes are copied only where a frame spans
 * two chunks.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** How a protocol tells where a frame ends. */
export interface Framing {
  /** Where the frame that begins at `at` ends, or undefined while that cannot be told. */
  readonly endOf: (bytes: Buffer, at: number) => number | undefined;
  readonly onFrame: (bytes: Buffer, at: number, end: number) => void;
}

/** Reads frames from a socket until it closes. */
export function readFrames(socket: Socket, { endOf, onFrame }: Framing): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const end = at < bytes.length ? endOf(bytes, at) : undefined;
      if (end === undefined || end > bytes.length) break;
      onFrame(bytes, at, end);
      at = end;
    }
    rest = bytes.subarray(at);
  });
}

/** A loopback connection that writes at once. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  return socket;
}

/** Writes several pieces with one system call. */
export function writeTogether(socket: Socket, pieces: readonly Buffer[]): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece);
  socket.uncork();
}
