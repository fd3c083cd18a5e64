/**
 * NATS JetStream under load: every publish waits for the stream's word, every recipient device is a
 * durable push consumer on a connection of its own with explicit acknowledgements.
 *
 * One copy: a work queue. More: one stream of interest, whose message is stored once for all of them.
 * Spec: docs.nats.io, "Client protocol" and "JetStream wire API".
 */
import type { Socket } from "node:net";

import {
  type LoadClient,
  type LoadEvents,
  type LoadShape,
  messageBytes,
  recipientOf,
} from "./client.ts";
import { AckTimer } from "./ack-timer.ts";
import { openSocket, readFrames, writeTogether } from "./frame-stream.ts";

/** Where the server is. */
export interface NatsTarget {
  readonly system: "nats";
  readonly port: number;
}

interface NatsMessage {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly bytes: Buffer;
  readonly at: number;
  readonly end: number;
}

const end = "\r\n";

/** Makes the stream, connects every device as a consumer, then the publishers. */
export async function connectNats(
  target: NatsTarget,
  shape: LoadShape,
  events: LoadEvents,
): Promise<LoadClient> {
  const admin = await openNats(target.port, () => {});
  await admin.request("$JS.API.STREAM.CREATE.OUT", {
    name: "OUT",
    subjects: ["out.*"],
    storage: "file",
    retention: shape.copies === 1 ? "workqueue" : "interest",
    num_replicas: 1,
  });
  const devices = Array.from({ length: shape.recipients * shape.copies }, (_, device) => device);
  const receivers = await Promise.all(
    devices.map((device) => connectDevice(target.port, device, events.onReceived)),
  );
  for (const device of devices) {
    const config = {
      durable_name: `d${device}`,
      deliver_subject: `dlv.${device}`,
      filter_subject: `out.${Math.floor(device / shape.copies)}`,
      ack_policy: "explicit",
      max_ack_pending: 1_000,
    };
    const subject = `$JS.API.CONSUMER.DURABLE.CREATE.OUT.d${device}`;
    await admin.request(subject, { stream_name: "OUT", config });
  }
  const publishers = await Promise.all(
    Array.from({ length: shape.publishers }, async (_, publisher) => {
      const connection = await openNats(target.port, ({ bytes, at, end: until }) => {
        const text = bytes.toString("latin1", at, until);
        if (text.includes("error")) throw new Error(`the stream refused a message: ${text}`);
        events.onAccepted(publisher);
      });
      connection.socket.write(`SUB in.${publisher} 1${end}`);
      return connection.socket;
    }),
  );
  const filler = Buffer.concat([Buffer.alloc(messageBytes - 4, 7), Buffer.from(end)]);
  return {
    publish: (publisher, messages) => {
      const socket = publishers[publisher];
      if (socket === undefined) throw new Error(`no publisher ${publisher}`);
      writeTogether(
        socket,
        messages.flatMap((message) => [publishHead(publisher, message, shape), filler]),
      );
    },
    close: async () => {
      for (const receiver of receivers) receiver.flush();
      await admin.request("$JS.API.STREAM.DELETE.OUT", {});
      for (const socket of publishers) socket.destroy();
      for (const receiver of receivers) receiver.socket.destroy();
      admin.socket.destroy();
    },
  };
}

function publishHead(publisher: number, message: number, shape: LoadShape): Buffer {
  const line = `PUB out.${recipientOf(message, shape)} in.${publisher} ${messageBytes}${end}`;
  const head = Buffer.alloc(line.length + 4);
  head.write(line, "latin1");
  head.writeUInt32BE(message, line.length);
  return head;
}

async function connectDevice(
  port: number,
  device: number,
  onReceived: (message: number) => void,
): Promise<{ readonly socket: Socket; readonly flush: () => void }> {
  let replies: string[] = [];
  const flush = (): void => {
    acks.stop();
    if (replies.length === 0) return;
    // Each message has its own acknowledgement here; a batch of them is one write.
    const lines = replies.map((reply) => `PUB ${reply} 4${end}+ACK${end}`);
    replies = [];
    connection.socket.write(lines.join(""));
  };
  const acks = new AckTimer(flush);
  const connection = await openNats(port, ({ reply, bytes, at }) => {
    if (reply !== undefined) replies.push(reply);
    onReceived(bytes.readUInt32BE(at));
    acks.received();
  });
  connection.socket.write(`SUB dlv.${device} 1${end}`);
  await connection.ping();
  return { socket: connection.socket, flush };
}

interface NatsConnection {
  readonly socket: Socket;
  /** Resolves when everything written before was taken in. */
  readonly ping: () => Promise<void>;
  readonly request: (subject: string, body: unknown) => Promise<void>;
}

async function openNats(
  port: number,
  onMessage: (message: NatsMessage) => void,
): Promise<NatsConnection> {
  const socket = await openSocket(port);
  const pongs: (() => void)[] = [];
  const answers: ((text: string) => void)[] = [];
  readFrames(socket, {
    endOf: endOfLine,
    onFrame: (bytes, at, until) => {
      const lineEnd = bytes.indexOf(end, at, "latin1");
      const words = bytes.toString("latin1", at, lineEnd).split(" ");
      const [verb = "", subject = ""] = words;
      if (verb === "MSG") {
        const reply = words.length === 5 ? words[3] : undefined;
        const message = { subject, reply, bytes, at: lineEnd + 2, end: until - 2 };
        if (subject === "answers")
          answers.shift()?.(bytes.toString("utf8", message.at, message.end));
        else onMessage(message);
      } else if (verb === "PING") socket.write(`PONG${end}`);
      else if (verb === "PONG") pongs.shift()?.();
      else if (verb === "-ERR") throw new Error(`the server said ${words.join(" ")}`);
    },
  });
  const options = { verbose: false, pedantic: false, lang: "node", version: "0", protocol: 1 };
  socket.write(`CONNECT ${JSON.stringify(options)}${end}`);
  const ping = (): Promise<void> =>
    new Promise((resolve) => {
      pongs.push(resolve);
      socket.write(`PING${end}`);
    });
  await ping();
  return {
    socket,
    ping,
    request: async (subject, body) => {
      const text = JSON.stringify(body);
      const answered = new Promise<string>((resolve) => answers.push(resolve));
      socket.write(`SUB answers 9${end}PUB ${subject} answers ${text.length}${end}${text}${end}`);
      const answer = await answered;
      socket.write(`UNSUB 9${end}`);
      if (answer.includes('"error"')) throw new Error(`${subject}: ${answer}`);
    },
  };
}

function endOfLine(bytes: Buffer, at: number): number | undefined {
  const lineEnd = bytes.indexOf(end, at, "latin1");
  if (lineEnd === -1) return undefined;
  // "M" of MSG; every other line is a frame of its own.
  if (bytes[at] !== 0x4d) return lineEnd + 2;
  const line = bytes.toString("latin1", at, lineEnd);
  return lineEnd + 4 + Number(line.slice(line.lastIndexOf(" ") + 1));
}
