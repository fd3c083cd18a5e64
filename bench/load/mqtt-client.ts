/**
 * An MQTT 3.1.1 broker under load: QoS 1 in both directions, one topic a recipient, one connection a
 * device; devices of one recipient subscribe to the same topic.
 *
 * Spec: MQTT 3.1.1 sections 2 and 3.
 */
import type { Socket } from "node:net";

import {
  type LoadClient,
  type LoadEvents,
  type LoadShape,
  messageBytes,
  recipientOf,
} from "./client.ts";
import { openSocket, readFrames, writeTogether } from "./frame-stream.ts";

/** Where the broker is. */
export interface MqttTarget {
  readonly system: "mqtt";
  readonly port: number;
}

const packet = { connack: 2, publish: 3, puback: 4, suback: 9 } as const;

/** Connects every device, then the publishers. */
export async function connectMqtt(
  target: MqttTarget,
  shape: LoadShape,
  events: LoadEvents,
): Promise<LoadClient> {
  const devices = Array.from({ length: shape.recipients * shape.copies }, (_, device) => device);
  const sockets = await Promise.all(
    devices.map((device) => connectDevice(target.port, device, shape, events)),
  );
  const publishers = await Promise.all(
    Array.from({ length: shape.publishers }, async (_, publisher) => {
      const { socket } = await connectAs(target.port, `tx${publisher}`, (type) => {
        if (type === packet.puback) events.onAccepted(publisher);
      });
      return socket;
    }),
  );
  const filler = Buffer.alloc(messageBytes - 4, 7);
  return {
    publish: (publisher, messages) => {
      const socket = publishers[publisher];
      if (socket === undefined) throw new Error(`no publisher ${publisher}`);
      writeTogether(
        socket,
        messages.flatMap((message) => [publishHead(message, shape), filler]),
      );
    },
    close: async () => {
      for (const socket of [...sockets, ...publishers]) socket.destroy();
    },
  };
}

async function connectDevice(
  port: number,
  device: number,
  shape: LoadShape,
  events: LoadEvents,
): Promise<Socket> {
  const waiting: (() => void)[] = [];
  const subscribed = new Promise<void>((resolve) => waiting.push(resolve));
  let acks: Buffer[] = [];
  const { socket } = await connectAs(port, `rx${device}`, (type, bytes, at) => {
    if (type === packet.suback) waiting.pop()?.();
    if (type !== packet.publish) return;
    const idAt = at + 2 + bytes.readUInt16BE(at);
    const ack = Buffer.from([0x40, 2, bytes[idAt] ?? 0, bytes[idAt + 1] ?? 0]);
    // Every receipt has its own acknowledgement in this protocol; those of one turn travel together.
    if (acks.push(ack) === 1) {
      setImmediate(() => {
        const written = acks;
        acks = [];
        socket.write(Buffer.concat(written));
      });
    }
    events.onReceived(bytes.readUInt32BE(idAt + 2));
  });
  const topic = field(topicOf(Math.floor(device / shape.copies)));
  socket.write(packetOf(0x82, Buffer.concat([Buffer.from([0, 1]), topic, Buffer.from([1])])));
  await subscribed;
  return socket;
}

async function connectAs(
  port: number,
  name: string,
  onPacket: (type: number, bytes: Buffer, at: number) => void,
): Promise<{ readonly socket: Socket }> {
  const socket = await openSocket(port);
  const connected = new Promise<void>((resolve) => {
    readFrames(socket, {
      endOf: (bytes, at) => contentOf(bytes, at)?.end,
      onFrame: (bytes, at) => {
        const type = (bytes[at] ?? 0) >> 4;
        if (type === packet.connack) resolve();
        else onPacket(type, bytes, contentOf(bytes, at)?.at ?? at);
      },
    });
  });
  // Protocol level 4, clean session, keep alive off.
  const head = Buffer.concat([field("MQTT"), Buffer.from([4, 2, 0, 0])]);
  socket.write(packetOf(0x10, Buffer.concat([head, field(name)])));
  await connected;
  return { socket };
}

function publishHead(message: number, shape: LoadShape): Buffer {
  const topic = field(topicOf(recipientOf(message, shape)));
  const head = Buffer.alloc(6);
  head.writeUInt16BE((message % 65_535) + 1, 0);
  head.writeUInt32BE(message, 2);
  const variable = Buffer.concat([topic, head]);
  return Buffer.concat([fixedHead(0x32, variable.length + messageBytes - 4), variable]);
}

function topicOf(recipient: number): string {
  return `out/${recipient}`;
}

function field(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

function packetOf(first: number, content: Buffer): Buffer {
  return Buffer.concat([fixedHead(first, content.length), content]);
}

function fixedHead(first: number, length: number): Buffer {
  const bytes = [first];
  let left = length;
  do {
    bytes.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.from(bytes);
}

function contentOf(
  bytes: Buffer,
  at: number,
): { readonly at: number; readonly end: number } | undefined {
  let length = 0;
  for (let index = 0; index < 4; index++) {
    const byte = bytes[at + 1 + index];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { at: at + 2 + index, end: at + 2 + index + length };
  }
  throw new Error("a packet length of more than four bytes");
}
