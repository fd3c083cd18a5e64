/**
 * A relay's `/v1/device` that does what a test says: it speaks WebSocket, and nothing by itself. The
 * test sends each frame, and reads what the device sent.
 */
import type { IncomingMessage } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { openMailboxConnection } from "../../../src/device/transport/mailbox-connection.ts";
import type { MailboxConnection, MailboxState } from "../../../src/device/transport/port.ts";
import { encodeDelivery, type Delivery } from "../../../src/shared/wire/frames.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { createEventLog, type EventLog, serveHttp, type TestServer } from "./misbehaving.ts";

/** One connection as the relay's side has it. */
export interface ServerSide {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Frames that the device sent, parsed. */
  readonly received: EventLog<Readonly<Record<string, unknown>>>;
  readonly say: (frame: object) => void;
  readonly deliver: (seq: bigint, item?: Uint8Array) => void;
  /** Challenge, proof, ready. */
  readonly admit: (epoch?: string) => Promise<void>;
  readonly gone: Promise<number>;
}

/** A scripted relay. */
export interface ScriptedRelay extends TestServer {
  readonly sides: EventLog<ServerSide>;
  /** The connection with that number, 0 for the first. */
  readonly side: (index: number) => Promise<ServerSide>;
}

/** Starts one. `autoPong: false` leaves pings unanswered. */
export async function scriptRelay(
  options: { readonly autoPong?: boolean } = {},
): Promise<ScriptedRelay> {
  const sides = createEventLog<ServerSide>();
  const sockets = new WebSocketServer({
    noServer: true,
    autoPong: options.autoPong ?? true,
    perMessageDeflate: true,
  });
  const server = await serveHttp(
    (_request, response) => response.writeHead(404).end(),
    (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        sides.push(serverSide(accepted, request));
      });
    },
  );
  return {
    ...server,
    sides,
    side: async (index) => {
      if (sides.items.length <= index) await sides.until(() => sides.items.length > index);
      return sides.items[index]!;
    },
  };
}

function serverSide(socket: WebSocket, request: IncomingMessage): ServerSide {
  const received = createEventLog<Readonly<Record<string, unknown>>>();
  socket.on("message", (data: Buffer) => received.push(JSON.parse(data.toString("utf8"))));
  socket.on("error", () => socket.terminate());
  const say = (frame: object): void => socket.send(JSON.stringify(frame));
  return {
    socket,
    request,
    received,
    say,
    deliver: (seq, item = new Uint8Array([Number(seq % 256n)])) =>
      socket.send(encodeDelivery({ seq, redelivered: false, item })),
    admit: async (epoch = "e1") => {
      say(challenge);
      await received.until((frame) => frame["type"] === "auth");
      say(ready(epoch));
    },
    gone: new Promise((resolve) => {
      socket.once("close", (code) => resolve(code));
    }),
  };
}

/** A challenge of a scripted relay. */
export const challenge = {
  type: "challenge",
  nonce: Buffer.alloc(32, 7).toString("base64url"),
  time: "1800000000000",
};

/** A `ready` of a scripted relay. */
export function ready(epoch = "e1"): object {
  const refused = { count: 2, since: "1799999990000" };
  return { type: "ready", epoch, time: "1800000000500", queued: 3, refused };
}

/** Whether a state is of that type. */
export function isType(type: MailboxState["type"]): (state: MailboxState) => boolean {
  return (state) => state.type === type;
}

/** The connection's state when it is offline. Throws when it is not. */
export function offlineState(state: MailboxState): Extract<MailboxState, { type: "offline" }> {
  if (state.type !== "offline") throw new Error(`expected to be offline, got ${state.type}`);
  return state;
}

/** Waits until a device is away. */
export async function whenOffline(
  device: TestMailbox,
): Promise<Extract<MailboxState, { type: "offline" }>> {
  return offlineState(await device.states.until(isType("offline")));
}

/** Moves the clock to the retry and no further: a longer move would run into the next deadline. */
export async function comeBack(device: TestMailbox): Promise<void> {
  await device.clock.advance(offlineState(device.mailbox.state()).retryMs);
}

/** A device's connection with everything it reported. */
export interface TestMailbox {
  readonly mailbox: MailboxConnection;
  readonly clock: ManualClock;
  readonly states: EventLog<MailboxState>;
  readonly deliveries: EventLog<Delivery>;
  readonly drained: EventLog<bigint>;
  readonly challenges: EventLog<{ readonly nonce: Uint8Array; readonly timeMs: bigint }>;
}

/** Connects a device to a relay on a clock that stands still. */
export function connectMailbox(
  relayOrigin: string,
  answersHttp: () => Promise<boolean> = () => Promise.resolve(false),
): TestMailbox {
  const clock = createManualClock();
  const states = createEventLog<MailboxState>();
  const deliveries = createEventLog<Delivery>();
  const drained = createEventLog<bigint>();
  const challenges = createEventLog<{ readonly nonce: Uint8Array; readonly timeMs: bigint }>();
  const mailbox = openMailboxConnection({
    clock,
    rng: seededRng("mailbox"),
    identity: {
      relayOrigin,
      deviceId: new Uint8Array(16).fill(5),
      answerChallenge: (nonce, timeMs) => {
        challenges.push({ nonce, timeMs });
        return new Uint8Array(64).fill(9);
      },
    },
    events: { onState: states.push, onDelivery: deliveries.push, onDrained: drained.push },
    answersHttp,
    onClosed: () => {},
  });
  return { mailbox, clock, states, deliveries, drained, challenges };
}

/** Opens what a test needs, and closes it afterwards. Call `closeAll` after each test. */
export interface Workbench {
  readonly keep: <T extends AsyncDisposable>(each: T) => T;
  readonly connect: (...parameters: Parameters<typeof connectMailbox>) => TestMailbox;
  readonly scripted: (...parameters: Parameters<typeof scriptRelay>) => Promise<ScriptedRelay>;
  readonly serving: (...parameters: Parameters<typeof serveHttp>) => Promise<TestServer>;
  readonly closeAll: () => Promise<void>;
}

/** An empty workbench. */
export function createWorkbench(): Workbench {
  const open: AsyncDisposable[] = [];
  const keep = <T extends AsyncDisposable>(each: T): T => {
    open.push(each);
    return each;
  };
  return {
    keep,
    connect: (...parameters) => {
      const made = connectMailbox(...parameters);
      keep(made.mailbox);
      return made;
    },
    scripted: async (...parameters) => keep(await scriptRelay(...parameters)),
    serving: async (...parameters) => keep(await serveHttp(...parameters)),
    closeAll: async () => {
      for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
    },
  };
}
