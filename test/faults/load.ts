/**
 * Load on one or several relay processes that are being killed: senders that repeat identical bytes
 * until they are answered, and devices that take, acknowledge and come back. What happens is noted in
 * a History; nothing here knows how a relay works inside.
 */
import { createHash } from "node:crypto";

import { WebSocket } from "ws";

import { toBase64Url } from "../../src/shared/bytes.ts";
import { type Rng, randomFraction } from "../../src/shared/rng.ts";
import { encodeItem, parseUpload } from "../../src/shared/wire/envelope.ts";
import { parseDelivery, parseRelayFrame } from "../../src/shared/wire/frames.ts";
import { type RelayAccount, type RelayDevice, uploadTo } from "../support/accounts.ts";
import { authFrameOf, type RelayAddress } from "../support/relay.ts";
import type { History } from "./history.ts";

/** Where to send now. It may change, and whoever listens there may be dead. */
export type Addresses = () => readonly RelayAddress[];

const retryMs = 25;
const answerMs = 20_000;

/** Sends one upload after another until `stop`; returns when the last one was answered, or `giveUp` fired. */
export async function sendSteadily(
  account: RelayAccount,
  world: {
    readonly addresses: Addresses;
    readonly history: History;
    readonly rng: Rng;
    readonly stop: AbortSignal;
    readonly giveUp: AbortSignal;
  },
): Promise<void> {
  const { history, rng, stop, giveUp } = world;
  let at = 0;
  while (!stop.aborted) {
    const addressed = account.devices.filter((_device, index) => index === 0 || rng(1)[0]! < 128);
    const bucket = rng(1)[0]! < 32 ? 1 : 0;
    const mailboxes = addressed.map(({ mailbox }) => mailbox);
    const [first] = world.addresses();
    const options = { origin: first!.origin, nowMs: Date.now(), bucket, rng };
    const upload = uploadTo(account, mailboxes, options);
    const name = nameOf(upload);
    history.sent(
      name,
      addressed.map(({ box }) => box),
    );
    for (let answered = false; !answered && !giveUp.aborted; at++) {
      answered = await post(upload, world.addresses(), at);
      if (answered) history.accepted(name);
      else await pause(retryMs * randomFraction(rng));
    }
  }
}

/** Whether the relay said that it has the upload. */
async function post(
  upload: Uint8Array,
  addresses: readonly RelayAddress[],
  at: number,
): Promise<boolean> {
  const address = addresses[at % addresses.length];
  if (address === undefined) return false;
  try {
    const response = await fetch(`${address.url}/v1/envelopes`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: new Uint8Array(upload),
      signal: AbortSignal.timeout(answerMs),
    });
    await response.arrayBuffer();
    if (response.status === 202) return true;
    if (response.status !== 503)
      throw new Refused(`an honest upload was answered ${response.status}`);
    return false;
  } catch (cause) {
    if (cause instanceof Refused) throw cause;
    // Nobody answered: that is what these tests are about.
    return false;
  }
}

class Refused extends Error {}

/** A device that comes back until it is closed. */
export interface SteadyDevice {
  /** Resolves when a connection made after this call has been drained with nothing left behind. */
  readonly emptied: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Keeps a device connected, to one address after another. */
export function keepConnected(
  device: RelayDevice,
  world: { readonly addresses: Addresses; readonly history: History; readonly rng: Rng },
): SteadyDevice {
  const { addresses, history, rng } = world;
  const waiting = new Set<{ readonly from: number; readonly resolve: () => void }>();
  let connection = -1;
  const closing = new AbortController();
  let socket: WebSocket | undefined;
  const running = run();

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      connection += 1;
      const all = addresses();
      const address = all[connection % Math.max(1, all.length)];
      if (address !== undefined) await session(address, connection);
      if (!closing.signal.aborted) await pause(retryMs * randomFraction(rng));
    }
  }

  function session(address: RelayAddress, number: number): Promise<void> {
    return new Promise((resolve) => {
      const opened = new WebSocket(`${address.url.replace("http", "ws")}/v1/device`);
      socket = opened;
      let epoch = "";
      const lazy = waiting.size === 0 && randomFraction(rng) < 0.3;
      opened.on("error", () => opened.terminate());
      opened.on("close", () => resolve());
      opened.on("message", (data: Buffer, isBinary: boolean) => {
        if (isBinary) {
          const delivery = parseDelivery(data);
          if (!delivery.ok) throw new Error(delivery.error.reason);
          const { seq, item } = delivery.value;
          history.arrived({ device: device.box, connection: number, seq, upload: digest(item) });
          // Some connections die with everything unacknowledged.
          if (!lazy) opened.send(JSON.stringify({ type: "ack", epoch, seqs: [String(seq)] }));
          return;
        }
        const frame = parseRelayFrame(data.toString("utf8"));
        if (!frame.ok) throw new Error(frame.error.reason);
        const { value } = frame;
        if (value.type === "challenge") {
          opened.send(JSON.stringify(authFrameOf(device, value, address.origin)));
        } else if (value.type === "ready") {
          epoch = value.epoch;
          if (lazy) setTimeout(() => opened.terminate(), 200 * randomFraction(rng)).unref();
        } else if (value.type === "drained") {
          history.drained({
            device: device.box,
            connection: number,
            through: BigInt(value.through),
          });
          for (const wait of waiting) {
            if (wait.from <= number) wait.resolve();
          }
        }
      });
    });
  }

  return {
    emptied: () =>
      new Promise((resolve) => {
        const wait = {
          from: connection + 1,
          resolve: () => {
            waiting.delete(wait);
            resolve();
          },
        };
        waiting.add(wait);
        socket?.terminate();
      }),
    close: async () => {
      closing.abort();
      socket?.terminate();
      await running;
    },
  };
}

/** A name by which an upload is known again in every item of it: its body. */
function nameOf(upload: Uint8Array): string {
  const parsed = parseUpload(upload);
  const [entry] = parsed.ok ? parsed.value.entries : [];
  if (!parsed.ok || entry === undefined) throw new Error("not an upload");
  const { bucket, body } = parsed.value;
  return digest(encodeItem({ bucket, header: entry.header, body }));
}

// The body's commitment and first bytes are random here: they name the upload whatever the header.
function digest(item: Uint8Array): string {
  const body = item.subarray(2 + 1_176);
  return toBase64Url(createHash("sha256").update(body).digest().subarray(0, 12));
}

/** Real processes need real time. Units: ms. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}
