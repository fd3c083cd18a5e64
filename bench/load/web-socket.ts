/**
 * WebSocket frames as a relay sends them (unmasked, never fragmented), and masked text as a device
 * sends it. Just enough for a load client.
 *
 * Spec: RFC 6455 section 5.2.
 */
import type { Socket } from "node:net";

import { readFrames } from "./frame-stream.ts";

/** Who takes the frames. */
export interface FrameSink {
  readonly onText: (text: string) => void;
  /** The frame's content begins at `at`. */
  readonly onBinary: (bytes: Buffer, at: number) => void;
}

/** Reads the reply to the upgrade, and then frames. */
export function readRelayFrames(socket: Socket, sink: FrameSink): void {
  let isUpgraded = false;
  readFrames(socket, {
    endOf: (bytes, at) => {
      if (isUpgraded) return contentOf(bytes, at)?.end;
      const headEnd = bytes.indexOf("\r\n\r\n", at);
      return headEnd === -1 ? undefined : headEnd + 4;
    },
    onFrame: (bytes, at, end) => {
      if (!isUpgraded) {
        isUpgraded = true;
        return;
      }
      const contentAt = contentOf(bytes, at)?.at ?? end;
      const opcode = (bytes[at] ?? 0) & 0x0f;
      if (opcode === 2) sink.onBinary(bytes, contentAt);
      else if (opcode === 1) sink.onText(bytes.toString("utf8", contentAt, end));
      else if (opcode === 8) socket.destroy();
      else if (opcode === 9) socket.write(emptyPong);
    },
  });
}

function contentOf(
  bytes: Buffer,
  at: number,
): { readonly at: number; readonly end: number } | undefined {
  const length = (bytes[at + 1] ?? 0) & 0x7f;
  if (length < 126) return { at: at + 2, end: at + 2 + length };
  const start = at + (length === 126 ? 4 : 10);
  if (bytes.length < start) return undefined;
  const size = length === 126 ? bytes.readUInt16BE(at + 2) : bytes.readUInt32BE(at + 6);
  return { at: start, end: start + size };
}

// The relay's pings are empty.
const emptyPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** A text frame. Its mask is zero, which leaves the text as it is. */
export function maskedText(text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(content.length < 126 ? 6 : 8);
  head[0] = 0x81;
  head[1] = 0x80 | Math.min(content.length, 126);
  if (content.length >= 126) head.writeUInt16BE(content.length, 2);
  return Buffer.concat([head, content]);
}
