/**
 * A relay in this process with real sockets, and a device that speaks to it frame by frame. Waiting
 * is always for an event; `frame()` and `delivery()` fail by the test's own time limit.
 */
import { once } from "node:events";

import { WebSocket } from "ws";

import { createRelay, defaultConfig, type Relay, type RelayConfig } from "../../src/relay/index.ts";
import { createLog, type Logger } from "../../src/relay/log.ts";
import { parseBase64Url, toBase64Url } from "../../src/shared/bytes.ts";
import { type Clock, systemClock } from "../../src/shared/clock.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { signChallenge } from "../../src/shared/crypto/relay-auth.ts";
import {
  type Delivery,
  parseDelivery,
  parseRelayFrame,
  type RelayFrame,
  type RequestFrame,
} from "../../src/shared/wire/frames.ts";
import { newAccount, registrationOf, type RelayAccount, type RelayDevice } from "./accounts.ts";

/** Where a relay listens; all that a client needs of one, in this process or another. */
export type RelayAddress = Pick<Relay, "url" | "origin">;

/** What a test relay may differ in. */
export interface TestRelayOptions {
  readonly databaseUrl: string;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly config?: Partial<RelayConfig>;
}

/** Starts a relay on a free port over a test database. Fails the test when it does not start. */
export async function startRelay(options: TestRelayOptions): Promise<Relay> {
  const started = await createRelay({
    config: {
      ...defaultConfig,
      port: 0,
      databaseUrl: options.databaseUrl,
      addressRequestsPerMinute: 10_000_000,
      mailboxUploadsPerMinute: 10_000_000,
      ...options.config,
    },
    clock: options.clock ?? systemClock,
    log: options.log ?? createLog({ level: "silent" }),
  });
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

/** A JSON answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly error?: string;
    readonly results?: readonly { readonly mailbox: string; readonly state: string }[];
    readonly unaddressed?: readonly string[];
  };
}

/** Sends JSON. */
export async function postJson(
  relay: RelayAddress,
  path: string,
  body: unknown,
): Promise<HttpAnswer> {
  return answerOf(
    await fetch(relay.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
}

/** Sends an upload. */
export async function postUpload(relay: RelayAddress, upload: Uint8Array): Promise<HttpAnswer> {
  return answerOf(
    await fetch(`${relay.url}/v1/envelopes`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: new Uint8Array(upload),
    }),
  );
}

/** Reads an answer as JSON. */
export async function answerOf(response: Response): Promise<HttpAnswer> {
  const body: HttpAnswer["body"] = JSON.parse(await response.text());
  return { status: response.status, body };
}

/** Draws an account and registers it. */
export async function registerAccount(relay: RelayAddress, nowMs: number): Promise<RelayAccount> {
  const account = newAccount(nowMs);
  const answer = await postJson(
    relay,
    "/v1/accounts",
    registrationOf(account, relay.origin, nowMs),
  );
  if (answer.status !== 201) throw new Error(`registration: ${JSON.stringify(answer)}`);
  return account;
}

/** One of the relay's frames by type. */
export type FrameOf<T extends RelayFrame["type"]> = Extract<RelayFrame, { type: T }>;

/** A device's connection, driven by a test. */
export class TestConnection {
  readonly socket: WebSocket;
  /** Everything received, in order. */
  readonly log: (RelayFrame | Delivery)[] = [];
  readonly deliveries: Delivery[] = [];
  readonly #frames: RelayFrame[] = [];
  readonly #waiting = new Set<() => void>();
  #taken = 0;
  #nextId = 1;
  epoch = "";
  closed: { readonly code: number } | undefined;

  constructor(relay: RelayAddress) {
    this.socket = new WebSocket(`${relay.url.replace("http", "ws")}/v1/device`);
    this.socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        const delivery = parseDelivery(data);
        if (!delivery.ok) throw new Error(delivery.error.reason);
        this.deliveries.push(delivery.value);
        this.log.push(delivery.value);
      } else {
        const frame = parseRelayFrame(data.toString("utf8"));
        if (!frame.ok) throw new Error(`${frame.error.reason}: ${data.toString("utf8")}`);
        this.#frames.push(frame.value);
        this.log.push(frame.value);
      }
      this.#notify();
    });
    this.socket.on("close", (code) => {
      this.closed = { code };
      this.#notify();
    });
    this.socket.on("error", () => this.#notify());
  }

  /** The next frame of that type; others stay for later. */
  async frame<T extends RelayFrame["type"]>(type: T): Promise<FrameOf<T>> {
    const isWanted = (frame: RelayFrame): frame is FrameOf<T> => frame.type === type;
    await this.until(() => this.#frames.some(isWanted), `a ${type} frame`);
    const found = this.#frames.find(isWanted);
    if (found === undefined) throw new Error("unreachable");
    this.#frames.splice(this.#frames.indexOf(found), 1);
    return found;
  }

  /** The next delivery. */
  async delivery(): Promise<Delivery> {
    const at = this.#taken++;
    await this.until(() => this.deliveries.length > at, `delivery ${at + 1}`);
    const found = this.deliveries[at];
    if (found === undefined) throw new Error("unreachable");
    return found;
  }

  /** Waits for a condition that only something received can make true. */
  async until(condition: () => boolean, what: string): Promise<void> {
    while (!condition()) {
      if (this.closed !== undefined) {
        throw new Error(
          `closed with ${this.closed.code} before ${what}: ${JSON.stringify(this.#frames)}`,
        );
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  /** Waits for the end; returns the close code. */
  async end(): Promise<number> {
    if (this.closed === undefined) await once(this.socket, "close");
    return this.closed?.code ?? 0;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Acknowledges deliveries. */
  ack(...seqs: readonly (bigint | number)[]): void {
    this.send({ type: "ack", epoch: this.epoch, seqs: seqs.map(String) });
  }

  /** Sends a request and returns its reply. */
  async request(
    frame: { readonly type: RequestFrame["type"] } & Record<string, unknown>,
  ): Promise<FrameOf<"reply">> {
    const id = this.#nextId++;
    this.send({ ...frame, id });
    return this.frame("reply");
  }

  /** Cuts the connection without a word. */
  async cut(): Promise<void> {
    this.socket.terminate();
    await this.end();
  }

  #notify(): void {
    for (const wake of this.#waiting) wake();
  }
}

/** The frame that answers a challenge. */
export function authFrameOf(
  device: RelayDevice,
  challenge: FrameOf<"challenge">,
  origin: string,
): Record<string, unknown> {
  const nonce = parseBase64Url(challenge.nonce);
  if (!nonce.ok) throw new Error("nonce");
  const claim = {
    originDigest: originHash(origin),
    nonce: nonce.value,
    deviceId: device.deviceId,
    timeMs: BigInt(challenge.time),
  };
  return {
    type: "auth",
    device_id: toBase64Url(device.deviceId),
    sig: toBase64Url(signChallenge(claim, device.dsk.privateKey)),
  };
}

/** Connects a device and waits until it is ready. */
export async function connectDevice(
  relay: RelayAddress,
  device: RelayDevice,
): Promise<TestConnection & { readonly ready: FrameOf<"ready"> }> {
  const connection = new TestConnection(relay);
  const challenge = await connection.frame("challenge");
  connection.send(authFrameOf(device, challenge, relay.origin));
  const ready = await connection.frame("ready");
  connection.epoch = ready.epoch;
  return Object.assign(connection, { ready });
}
