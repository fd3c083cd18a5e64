/**
 * RabbitMQ quorum queues under load: publisher confirms, persistent messages, one queue and one
 * connection for each recipient device, manual acknowledgements in batches. More than one copy goes
 * through a fanout exchange for each recipient.
 *
 * Spec: AMQP 0-9-1, and RabbitMQ's confirm.select.
 */
import type { Socket } from "node:net";

import { AckTimer } from "./ack-timer.ts";
import { AmqpConfirms } from "./amqp-confirms.ts";
import {
  amqpFrame,
  type AmqpConnection,
  method,
  openAmqp,
  shortText,
  u16,
  u64,
} from "./amqp-connection.ts";
import {
  type LoadClient,
  type LoadEvents,
  type LoadShape,
  messageBytes,
  recipientOf,
} from "./client.ts";
import { writeTogether } from "./frame-stream.ts";

/** Where the broker is. */
export interface AmqpTarget {
  readonly system: "amqp";
  readonly port: number;
}

/** Unacknowledged messages on one connection: the relay's own window. */
const prefetch = 256;
const noTable = Buffer.alloc(4);

/** Declares queues, connects every device, then the publishers. */
export async function connectAmqp(
  target: AmqpTarget,
  shape: LoadShape,
  events: LoadEvents,
): Promise<LoadClient> {
  const admin = await openAmqp(target.port, () => {});
  const devices = Array.from({ length: shape.recipients * shape.copies }, (_, device) => device);
  for (const device of devices) await declareQueue(admin, device, shape);
  const receivers = await Promise.all(
    devices.map((device) => connectDevice(target.port, device, events.onReceived)),
  );
  const publishers = await Promise.all(
    Array.from({ length: shape.publishers }, (_, publisher) =>
      connectPublisher(target.port, () => events.onAccepted(publisher)),
    ),
  );
  const filler = Buffer.alloc(messageBytes - 4, 7);
  return {
    publish: (publisher, messages) => {
      const socket = publishers[publisher];
      if (socket === undefined) throw new Error(`no publisher ${publisher}`);
      writeTogether(
        socket,
        messages.flatMap((message) => [publishHead(message, shape), filler, frameEnd]),
      );
    },
    close: async () => {
      for (const receiver of receivers) receiver.flush();
      for (const socket of publishers) socket.destroy();
      for (const device of devices) {
        await admin.call(
          method(50, 40, u16(0), shortText(queueOf(device)), Buffer.from([0])),
          [50, 41],
        );
      }
      for (const receiver of receivers) receiver.socket.destroy();
      admin.socket.destroy();
    },
  };
}

async function declareQueue(
  admin: AmqpConnection,
  device: number,
  shape: LoadShape,
): Promise<void> {
  const queue = shortText(queueOf(device));
  const type = Buffer.concat([shortText("x-queue-type"), Buffer.from("S"), longText("quorum")]);
  // Bits: durable.
  await admin.call(method(50, 10, u16(0), queue, Buffer.from([2]), longBytes(type)), [50, 11]);
  if (shape.copies === 1) return;
  const exchange = shortText(exchangeOf(Math.floor(device / shape.copies)));
  await admin.call(
    method(40, 10, u16(0), exchange, shortText("fanout"), Buffer.from([2]), noTable),
    [40, 11],
  );
  await admin.call(
    method(50, 20, u16(0), queue, exchange, shortText(""), Buffer.from([0]), noTable),
    [50, 21],
  );
}

async function connectDevice(
  port: number,
  device: number,
  onReceived: (message: number) => void,
): Promise<{ readonly socket: Socket; readonly flush: () => void }> {
  let tag = Buffer.alloc(8);
  let waiting = 0;
  const flush = (): void => {
    acks.stop();
    if (waiting === 0) return;
    waiting = 0;
    // basic.ack, multiple
    connection.socket.write(amqpFrame(1, method(60, 80, tag, Buffer.from([1]))));
  };
  const acks = new AckTimer(flush);
  const connection = await openAmqp(port, {
    // basic.deliver: consumer tag, delivery tag
    onMethod: (bytes, at) => {
      if (bytes.readUInt32BE(at) !== 0x3c003c) return;
      const tagAt = at + 5 + (bytes[at + 4] ?? 0);
      tag = Buffer.from(bytes.subarray(tagAt, tagAt + 8));
    },
    onBody: (bytes, at) => {
      waiting += 1;
      onReceived(bytes.readUInt32BE(at));
      acks.received();
    },
  });
  await connection.call(method(60, 10, Buffer.alloc(4), u16(prefetch), Buffer.from([0])), [60, 11]);
  const consume = [u16(0), shortText(queueOf(device)), shortText(""), Buffer.from([0]), noTable];
  await connection.call(method(60, 20, ...consume), [60, 21]);
  return { socket: connection.socket, flush };
}

async function connectPublisher(port: number, onConfirmed: () => void): Promise<Socket> {
  const confirms = new AmqpConfirms();
  const connection = await openAmqp(port, {
    onMethod: (bytes, at) => {
      const kind = bytes.readUInt32BE(at);
      // basic.nack
      if (kind === 0x3c0078) throw new Error("the broker refused a message");
      if (kind !== 0x3c0050) return;
      const count = confirms.take(bytes.readBigUInt64BE(at + 4), bytes[at + 12] === 1);
      for (let each = 0; each < count; each++) onConfirmed();
    },
  });
  await connection.call(method(85, 10, Buffer.from([0])), [85, 11]);
  return connection.socket;
}

// Content header: class 60, weight 0, size, property flags (delivery mode only), persistent.
const contentHead = amqpFrame(
  2,
  Buffer.concat([u16(60), u16(0), u64(BigInt(messageBytes)), u16(0x1000), Buffer.from([2])]),
);
const frameEnd = Buffer.from([0xce]);

function publishHead(message: number, shape: LoadShape): Buffer {
  const recipient = recipientOf(message, shape);
  const exchange = shape.copies === 1 ? "" : exchangeOf(recipient);
  const key = shape.copies === 1 ? queueOf(recipient) : "";
  const body = Buffer.alloc(11);
  body[0] = 3;
  body.writeUInt16BE(1, 1);
  body.writeUInt32BE(messageBytes, 3);
  body.writeUInt32BE(message, 7);
  const publish = method(60, 40, u16(0), shortText(exchange), shortText(key), Buffer.from([0]));
  return Buffer.concat([amqpFrame(1, publish), contentHead, body]);
}

function queueOf(device: number): string {
  return `q${device}`;
}

function exchangeOf(recipient: number): string {
  return `x${recipient}`;
}

function longText(text: string): Buffer {
  return longBytes(Buffer.from(text));
}

function longBytes(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
