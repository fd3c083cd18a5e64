/**
 * One AMQP 0-9-1 connection with one channel: handshake, methods that wait for their answer, frames.
 *
 * Spec: AMQP 0-9-1 sections 2.2 and 4.2.
 */
import type { Socket } from "node:net";

import { openSocket, readFrames } from "./frame-stream.ts";

/** What arrives unasked. Positions are those of the frame's content. */
export interface AmqpEvents {
  readonly onMethod: (bytes: Buffer, at: number) => void;
  readonly onBody?: (bytes: Buffer, at: number) => void;
}

/** An open connection. */
export interface AmqpConnection {
  readonly socket: Socket;
  /** Sends a method on channel 1 and waits for the answer of that class and method. */
  readonly call: (content: Buffer, answer: readonly [number, number]) => Promise<void>;
}

const frame = { method: 1, body: 3 } as const;

/** Connects as guest and opens channel 1. */
export async function openAmqp(
  port: number,
  events: AmqpEvents | (() => void),
): Promise<AmqpConnection> {
  const { onMethod, onBody } =
    typeof events === "function" ? { onMethod: events, onBody: undefined } : events;
  const socket = await openSocket(port);
  const waiting = new Map<number, () => void>();
  readFrames(socket, {
    endOf: (bytes, at) => (bytes.length < at + 7 ? undefined : at + 8 + bytes.readUInt32BE(at + 3)),
    onFrame: (bytes, at) => {
      if (bytes[at] === frame.body) onBody?.(bytes, at + 7);
      if (bytes[at] !== frame.method) return;
      const kind = bytes.readUInt32BE(at + 7);
      const answered = waiting.get(kind);
      waiting.delete(kind);
      // connection.close and channel.close say why
      if (kind === 0xa0032 || kind === 0x140028) {
        throw new Error(`the broker closed: ${bytes.toString("latin1", at + 13, at + 120)}`);
      }
      if (answered === undefined) onMethod(bytes, at + 7);
      else answered();
    },
  });
  const answer = (classId: number, methodId: number): Promise<void> =>
    new Promise((resolve) => waiting.set(classId * 0x10000 + methodId, resolve));
  const send = (channel: number, content: Buffer): void => {
    socket.write(amqpFrame(1, content, channel));
  };
  const started = answer(10, 10);
  socket.write(Buffer.from("AMQP\0\0\x09\x01", "latin1"));
  await started;
  const tuned = answer(10, 30);
  const login = Buffer.from("\0guest\0guest", "latin1");
  const loginLength = Buffer.alloc(4);
  loginLength.writeUInt32BE(login.length);
  send(
    0,
    method(10, 11, Buffer.alloc(4), shortText("PLAIN"), loginLength, login, shortText("en_US")),
  );
  await tuned;
  // Up to 1 channel, frames of 128 KiB, no heartbeat.
  send(0, method(10, 31, u16(1), Buffer.from([0, 2, 0, 0]), u16(0)));
  const opened = answer(10, 41);
  send(0, method(10, 40, shortText("/"), shortText(""), Buffer.from([0])));
  await opened;
  const call: AmqpConnection["call"] = async (content, [classId, methodId]) => {
    const answered = answer(classId, methodId);
    send(1, content);
    await answered;
  };
  await call(method(20, 10, shortText("")), [20, 11]);
  return { socket, call };
}

/** A frame of that type. */
export function amqpFrame(type: number, content: Buffer, channel = 1): Buffer {
  const bytes = Buffer.alloc(content.length + 8);
  bytes[0] = type;
  bytes.writeUInt16BE(channel, 1);
  bytes.writeUInt32BE(content.length, 3);
  content.copy(bytes, 7);
  bytes[bytes.length - 1] = 0xce;
  return bytes;
}

/** A method's content: class, method, arguments. */
export function method(classId: number, methodId: number, ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([u16(classId), u16(methodId), ...fields]);
}

/** A short string. */
export function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

/** Two bytes. */
export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** Eight bytes. */
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
