/**
 * The relay under load: uploads over pipelined HTTP keep-alive connections, one WebSocket per device.
 *
 * Speaks both by hand: heads of replies are read for status and length, frames for opcode and length.
 * Every upload is prepared whole: its own slot, noise and token.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";

import { parseBase64Url, toBase64Url } from "../../src/shared/bytes.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { signChallenge } from "../../src/shared/crypto/relay-auth.ts";
import type { RelayAccount, RelayDevice } from "../../test/support/accounts.ts";
import { uploadTo } from "../../test/support/accounts.ts";
import { AckTimer } from "./ack-timer.ts";
import { type LoadClient, type LoadEvents, type LoadShape, recipientOf } from "./client.ts";
import { openSocket, readFrames, writeTogether } from "./frame-stream.ts";
import { maskedText, readRelayFrames } from "./web-socket.ts";

/** Where the relay is, and who is written to. */
export interface PixieTarget {
  readonly system: "pixie";
  readonly port: number;
  readonly origin: string;
  readonly accounts: readonly RelayAccount[];
}

/** Connects every device, prepares every upload. */
export async function connectPixie(
  target: PixieTarget,
  shape: LoadShape,
  events: LoadEvents,
): Promise<LoadClient> {
  const requests = prepareRequests(target, shape);
  const accounts = shape.isReceived ? target.accounts.slice(0, shape.recipients) : [];
  const devices = accounts.flatMap((account) => account.devices);
  const receivers = await Promise.all(
    devices.map((device) => DeviceReceiver.connect(target, device, events.onReceived)),
  );
  const publishers = await Promise.all(
    Array.from({ length: shape.publishers }, async (_, publisher) => {
      const socket = await openSocket(target.port);
      readReplies(socket, () => events.onAccepted(publisher));
      return socket;
    }),
  );
  return {
    publish: (publisher, messages) => {
      const socket = publishers[publisher];
      if (socket === undefined) throw new Error(`no publisher ${publisher}`);
      writeTogether(
        socket,
        messages.map((message) => requests[message] ?? Buffer.alloc(0)),
      );
    },
    close: async () => {
      for (const receiver of receivers) receiver.flush();
      await Promise.all(receivers.map((receiver) => receiver.end()));
      for (const socket of publishers) socket.destroy();
    },
  };
}

function prepareRequests(target: PixieTarget, shape: LoadShape): readonly Buffer[] {
  const nowMs = Date.now();
  return Array.from({ length: shape.messages }, (_, message) => {
    const account = target.accounts[recipientOf(message, shape)];
    if (account === undefined) throw new Error("fewer accounts than recipients");
    const upload = uploadTo(
      account,
      account.devices.map((device) => device.mailbox),
      { origin: target.origin, nowMs, rng: numberedNoise(message) },
    );
    const head = `POST /v1/envelopes HTTP/1.1\r\nhost: relay\r\ncontent-type: application/octet-stream\r\ncontent-length: ${upload.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head, "latin1"), upload]);
  });
}

// Headers begin with the number of the message, by which its receipt is recognised.
function numberedNoise(message: number): (bytes: number) => Uint8Array {
  return (bytes) => {
    const noise = randomBytes(bytes);
    if (bytes > 1_000) noise.writeUInt32BE(message, 0);
    return noise;
  };
}

/** Anything but 202 ends the process. */
function readReplies(socket: Socket, onReply: () => void): void {
  readFrames(socket, {
    endOf: (bytes, at) => {
      const headEnd = bytes.indexOf("\r\n\r\n", at, "latin1");
      if (headEnd === -1) return undefined;
      const lengthAt = bytes.indexOf(lengthHeader, at, "latin1") + lengthHeader.length;
      return headEnd + 4 + Number.parseInt(bytes.toString("latin1", lengthAt, lengthAt + 8), 10);
    },
    onFrame: (bytes, at, end) => {
      if (bytes.toString("latin1", at + 9, at + 12) !== "202") {
        throw new Error(`the relay refused an upload: ${bytes.toString("latin1", at, end)}`);
      }
      onReply();
    },
  });
}

const lengthHeader = "content-length: ";

/** One device: authenticates, counts deliveries, acknowledges in batches. */
export class DeviceReceiver {
  readonly socket: Socket;
  readonly #acks = new AckTimer(() => this.flush());
  #seqs: number[] = [];
  #epoch = "";

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Resolves when the device holds its mailbox. Rejects when the relay ends the connection before. */
  static async connect(
    target: PixieTarget,
    device: RelayDevice,
    onReceived: (message: number) => void,
  ): Promise<DeviceReceiver> {
    const socket = await openSocket(target.port);
    const receiver = new DeviceReceiver(socket);
    const ready = new Promise<void>((resolve, reject) => {
      socket.once("close", () => reject(new Error("the relay ended a connection")));
      socket.once("error", reject);
      readRelayFrames(socket, {
        onText: (text) => {
          const frame: RelayText = JSON.parse(text);
          if (frame.type === "challenge") {
            socket.write(maskedText(authFrame(target, device, frame)));
          } else if (frame.type === "ready") {
            receiver.#epoch = frame.epoch ?? "";
            resolve();
          } else if (frame.type !== "drained") reject(new Error(`the relay said ${text}`));
        },
        // seq u64 | redelivered u8 | version u8 | bucket u8 | header, whose first 4 bytes are the number
        onBinary: (bytes, at) => {
          receiver.#seqs.push(bytes.readUInt32BE(at + 4));
          onReceived(bytes.readUInt32BE(at + 11));
          receiver.#acks.received();
        },
      });
    });
    socket.write(
      "GET /v1/device HTTP/1.1\r\nhost: relay\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    await ready;
    return receiver;
  }

  /** Acknowledges everything received. */
  flush(): void {
    this.#acks.stop();
    if (this.#seqs.length === 0) return;
    const seqs = this.#seqs.join('","');
    this.#seqs = [];
    this.socket.write(maskedText(`{"type":"ack","epoch":"${this.#epoch}","seqs":["${seqs}"]}`));
  }

  /** Ends the connection in order. */
  async end(): Promise<void> {
    this.socket.end();
    await once(this.socket, "close");
  }
}

interface RelayText {
  readonly type: string;
  readonly nonce?: string;
  readonly time?: string;
  readonly epoch?: string;
}

function authFrame(target: PixieTarget, device: RelayDevice, challenge: RelayText): string {
  const nonce = parseBase64Url(challenge.nonce ?? "");
  if (!nonce.ok) throw new Error("a challenge without a nonce");
  const claim = {
    originDigest: originHash(target.origin),
    nonce: nonce.value,
    deviceId: device.deviceId,
    timeMs: BigInt(challenge.time ?? ""),
  };
  return JSON.stringify({
    type: "auth",
    device_id: toBase64Url(device.deviceId),
    sig: toBase64Url(signChallenge(claim, device.dsk.privateKey)),
  });
}
