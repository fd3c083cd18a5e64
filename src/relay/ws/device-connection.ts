/**
 * One mailbox connection, from its challenge to its end:
 *
 *   challenged → authenticating → ready → ended
 *
 * Frames are handled in the order they came; acknowledgements go straight to the stream. Everything
 * is attached before the first await, so that a device may speak as early as it likes (R10).
 *
 * Owns the socket's conversation. What a frame means is authenticate.ts and requests.ts, how the
 * relay's own are written is relay-frames.ts, what is delivered is delivery/stream.ts. Spec:
 * docs/protocol.md "The mailbox connection".
 */
import type { Clock } from "../../shared/clock.ts";
import { challengeMs } from "../../shared/limits.ts";
import type { Rng } from "../../shared/rng.ts";
import { type Refusal, refusal } from "../../shared/wire/errors.ts";
import {
  type AckFrame,
  type AuthFrame,
  type DeviceFrame,
  parseDeviceFrame,
  type RelayFrame,
  type RequestFrame,
} from "../../shared/wire/frames.ts";
import type { OpenedStream, OpenStream } from "../delivery/open-stream.ts";
import type { StreamEnd } from "../delivery/stream.ts";
import { anyPosition } from "../delivery/wakeup.ts";
import { databaseRefusal } from "../errors.ts";
import type { KnownDevice } from "../store/devices.ts";
import { failureCode } from "../store/failure.ts";
import { type Authenticate, type Challenge, startAnswerTime } from "./authenticate.ts";
import { type CloseCode, closeCode } from "./close-codes.ts";
import { closeSocket, type DeviceSocket, isBacklogged } from "./device-socket.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import type { ConnectionRegistry, RegisteredConnection } from "./registry.ts";
import { ackedSeqs, challengeFrame, readyFrame, refusedFrame, replyFrame } from "./relay-frames.ts";
import type { AnswerRequest, Holder } from "./requests.ts";

/** What connections act through. */
export interface ConnectionPorts {
  readonly authenticate: Authenticate;
  readonly openStream: OpenStream;
  readonly answer: AnswerRequest;
  readonly registry: ConnectionRegistry;
  readonly identity: { readonly epoch: string; readonly laneOf: (account: string) => number };
  readonly runtime: {
    readonly clock: Clock;
    readonly rng: Rng;
    readonly onEvent: (event: string, code?: string) => void;
  };
}

/** Frames of one device that may wait for their turn. */
const maxWaitingFrames = 64;

type Phase = "challenged" | "authenticating" | "ready" | "ended";

/** A connection. Feed it with `receive`, `pong` and `closed`. */
export class DeviceConnection implements RegisteredConnection {
  readonly ended: Promise<void>;
  readonly #socket: DeviceSocket;
  readonly #ports: ConnectionPorts;
  readonly #challenge: Challenge;
  readonly #heartbeat: Heartbeat;
  /** Resolves `ended`; called once the socket is gone and the work behind it is done. */
  readonly #whenSettled: (() => void)[] = [];
  #phase: Phase = "challenged";
  #holder: Holder | undefined;
  #opened: OpenedStream | undefined;
  /** Frames run one after the other on this chain. */
  #turn: Promise<void> = Promise.resolve();
  #waitingFrames = 0;
  #cancelDeadline: () => void;

  constructor(socket: DeviceSocket, ports: ConnectionPorts) {
    const { clock, rng } = ports.runtime;
    this.#socket = socket;
    this.#ports = ports;
    this.ended = new Promise((resolve) => this.#whenSettled.push(resolve));
    this.#challenge = { nonce: rng(32), timeMs: BigInt(clock.nowMs()) };
    this.#heartbeat = startHeartbeat({
      ping: () => this.#beat(),
      onDead: () => this.#cut("missed-pongs"),
      clock,
    });
    this.#cancelDeadline = startAnswerTime(clock, () =>
      this.#refuse(
        refusal("unauthorised", `expected auth within ${challengeMs} ms`),
        closeCode.unauthorised,
      ),
    );
    ports.registry.add(this);
    this.#sendFrame(challengeFrame(this.#challenge));
  }

  /** A message arrived. */
  receive(text: string | undefined): void {
    if (this.#phase === "ended") return;
    const frame = text === undefined ? undefined : parseDeviceFrame(text);
    if (frame === undefined || !frame.ok) {
      // Never the frame itself: it may hold keys (O14).
      const reason =
        frame === undefined ? "binary frames come from the relay only" : frame.error.reason;
      this.#refuse(refusal("malformed", `frame: ${reason}`), closeCode.malformed);
      return;
    }
    if (this.#phase === "ready" && frame.value.type === "ack") this.#acknowledge(frame.value);
    else this.#enqueue(frame.value);
  }

  pong(): void {
    this.#heartbeat.pong();
  }

  /** The socket is gone. */
  closed(): void {
    this.#end();
    // What runs on the chain still uses the stream: it is closed behind it.
    void this.#turn
      .then(() => this.#closeStream())
      .then(() => this.#whenSettled.forEach((settle) => settle()));
  }

  displace(): void {
    if (this.#phase === "ended") return;
    this.#sendFrame({ type: "displaced" });
    this.#close(closeCode.displaced, "displaced");
  }

  revoke(): void {
    this.#refuse(refusal("unauthorised", "this device was removed"), closeCode.revoked);
  }

  goAway(): void {
    if (this.#phase !== "ended") this.#close(closeCode.goingAway, "the relay stops");
  }

  terminate(): void {
    this.#socket.terminate();
    this.#end();
  }

  #enqueue(frame: DeviceFrame): void {
    if (this.#waitingFrames >= maxWaitingFrames) {
      this.#refuse(
        refusal("overloaded", "too many requests wait on this connection", { retryAfterMs: 1_000 }),
        closeCode.tryLater,
      );
      return;
    }
    this.#waitingFrames += 1;
    this.#turn = this.#turn.then(async () => {
      this.#waitingFrames -= 1;
      try {
        if (this.#phase !== "ended") await this.#handle(frame);
      } catch (cause) {
        this.#ports.runtime.onEvent("request-failed", failureCode(cause));
        this.#refuse(databaseRefusal(), closeCode.failed);
      }
    });
  }

  async #handle(frame: DeviceFrame): Promise<void> {
    if (this.#phase === "challenged" && frame.type === "auth") {
      await this.#authenticate(frame);
    } else if (this.#holder === undefined) {
      this.#refuse(
        refusal("unauthorised", `expected auth first, got ${frame.type}`),
        closeCode.unauthorised,
      );
    } else if (frame.type === "auth") {
      this.#refuse(refusal("malformed", "auth: a challenge is answered once"), closeCode.malformed);
    } else if (frame.type === "ack") {
      this.#acknowledge(frame);
    } else {
      await this.#answer(this.#holder, frame);
    }
  }

  async #authenticate(frame: AuthFrame): Promise<void> {
    this.#phase = "authenticating";
    // It answered in time. What comes now waits for the database, which has a bound of its own.
    this.#cancelDeadline();
    const device = await this.#ports.authenticate(frame, this.#challenge);
    if (this.#isEnded()) return;
    if (device === undefined) {
      this.#refuse(
        refusal("unauthorised", "auth: unknown device, or a signature over something else"),
        closeCode.unauthorised,
      );
      return;
    }
    await this.#take(device);
  }

  async #take(device: KnownDevice): Promise<void> {
    const name = { lane: this.#ports.identity.laneOf(device.account), mailbox: device.mailbox };
    const opened = await this.#ports.openStream(name, {
      send: (bytes) => this.#send(bytes),
      onDrained: (through) => this.#sendFrame({ type: "drained", through: String(through) }),
      onEnd: (end) => this.#streamEnded(end),
    });
    if (opened === undefined) {
      this.revoke();
      return;
    }
    this.#opened = opened;
    if (this.#isEnded()) {
      // The socket went while the mailbox was being taken: nobody else will close the stream.
      await this.#closeStream();
      return;
    }
    this.#phase = "ready";
    const { session } = opened;
    this.#holder = { ...device, ...name, session: session.session };
    const { epoch } = this.#ports.identity;
    this.#sendFrame(readyFrame(epoch, session, this.#nowMs()));
    // After ready, and only while this is the newest connection: nothing binary precedes either.
    this.#ports.registry.hold({ ...name, session: session.session }, this);
    if (!this.#isEnded()) opened.stream.start();
  }

  #acknowledge(frame: AckFrame): void {
    if (frame.epoch !== this.#ports.identity.epoch) return;
    this.#opened?.stream.acknowledge(ackedSeqs(frame));
  }

  async #answer(holder: Holder, frame: RequestFrame): Promise<void> {
    const answered = await this.#ports.answer(holder, frame);
    this.#sendFrame(replyFrame(frame.id, answered, this.#nowMs()));
  }

  #streamEnded(end: StreamEnd): void {
    if (end === "displaced") this.displace();
    else if (end === "stalled") this.#cut("stalled");
    else this.#refuse(databaseRefusal(), closeCode.failed);
  }

  #beat(): void {
    this.#socket.ping();
    // A look at the database with every ping bounds what a lost wake-up can cost.
    if (this.#phase === "ready") this.#opened?.stream.wake(anyPosition);
  }

  #refuse(refused: Refusal, close: CloseCode): void {
    if (this.#phase === "ended") return;
    this.#ports.runtime.onEvent("connection-refused", refused.code);
    this.#sendFrame(refusedFrame(refused, this.#nowMs()));
    this.#close(close, refused.code);
  }

  #sendFrame(frame: RelayFrame): void {
    this.#send(JSON.stringify(frame));
  }

  #send(data: string | Uint8Array): void {
    if (this.#phase === "ended") return;
    if (isBacklogged(this.#socket, data.length)) this.#cut("not-reading");
    else this.#socket.send(data);
  }

  #cut(event: string): void {
    this.#ports.runtime.onEvent("connection-cut", event);
    this.terminate();
  }

  #close(code: CloseCode, reason: string): void {
    if (this.#phase === "ended") return;
    closeSocket(this.#socket, code, reason, this.#ports.runtime.clock);
    this.#end();
  }

  #end(): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#cancelDeadline();
    this.#heartbeat.stop();
    // No more deliveries and acknowledgements from here on, even while the socket lingers.
    void this.#closeStream();
  }

  async #closeStream(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    try {
      await opened?.close();
    } catch (cause) {
      // Only the redelivered mark of a few items depends on it.
      this.#ports.runtime.onEvent("mark-sent-failed", failureCode(cause));
    }
  }

  #isEnded(): boolean {
    return this.#phase === "ended";
  }

  #nowMs(): number {
    return this.#ports.runtime.clock.nowMs();
  }
}
