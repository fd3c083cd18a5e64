import { on, once } from "node:events";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";

import { createLog } from "../../../src/relay/log.ts";
import type { Relay } from "../../../src/relay/index.ts";
import { claimSession } from "../../../src/relay/store/mailboxes.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import type { Clock } from "../../../src/shared/clock.ts";
import { challengeMs, pingIntervalMs } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import {
  authFrameOf,
  connectDevice,
  postUpload,
  registerAccount,
  startRelay,
  TestConnection,
} from "../../support/relay.ts";

const clock = createManualClock();
const nowMs = clock.nowMs();
const logged: string[] = [];
let db: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  db = await openTestDatabase();
  const destination = { write: (line: string) => void logged.push(line) };
  relay = await startRelay({
    databaseUrl: db.url,
    clock,
    log: createLog({ level: "trace", destination }),
  });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
});

const send = (bob: RelayAccount, to: Relay = relay): Promise<unknown> =>
  postUpload(
    to,
    uploadTo(bob, [bob.devices[0]!.mailbox], { origin: to.origin, nowMs: clock.nowMs() }),
  );

describe("authentication", () => {
  it("R10: answers a device that speaks in the same turn as its socket opens", async () => {
    const bob = await registerAccount(relay, nowMs);
    const connection = new TestConnection(relay);
    await once(connection.socket, "open");
    connection.send({ type: "mailbox-status", id: 1 });
    expect(await connection.frame("refused")).toMatchObject({ error: "unauthorised" });
    expect(await connection.end()).toBe(4401);
    // A request right behind auth waits for ready and is answered.
    const eager = new TestConnection(relay);
    const challenge = await eager.frame("challenge");
    eager.send(authFrameOf(bob.devices[0]!, challenge, relay.origin));
    eager.send({ type: "mailbox-status", id: 7 });
    expect(await eager.frame("reply")).toMatchObject({ id: 7, ok: { queued: 0 } });
    await eager.cut();
  });

  it("refuses a wrong key, another origin, a foreign challenge and an unknown device alike", async () => {
    const bob = await registerAccount(relay, nowMs);
    const eve = await registerAccount(relay, nowMs);
    const [phone, other] = [bob.devices[0]!, eve.devices[0]!];
    const earlier = new TestConnection(relay);
    const stale = await earlier.frame("challenge");
    await earlier.cut();
    const wrong: ((challenge: typeof stale) => Record<string, unknown>)[] = [
      (challenge) => authFrameOf({ ...phone, dsk: other.dsk }, challenge, relay.origin),
      (challenge) => authFrameOf(phone, challenge, "https://other.example"),
      () => authFrameOf(phone, stale, relay.origin),
      (challenge) => authFrameOf({ ...phone, deviceId: systemRng(16) }, challenge, relay.origin),
    ];
    const refusals = [];
    for (const auth of wrong) {
      const connection = new TestConnection(relay);
      connection.send = connection.send.bind(connection);
      connection.send(auth(await connection.frame("challenge")));
      refusals.push(await connection.frame("refused"));
      expect(await connection.end()).toBe(4401);
    }
    expect(new Set(refusals.map((frame) => JSON.stringify(frame))).size).toBe(1);
  });

  it("O17: no origin that a client gives keeps it out: what it signs is what lets it in", async () => {
    for (const origin of ["https://app.example", "null", relay.origin]) {
      const socket = new WebSocket(`${relay.url.replace("http", "ws")}/v1/device`, { origin });
      const [frame] = await once(socket, "message");
      expect(JSON.parse(String(frame))).toMatchObject({ type: "challenge" });
      socket.terminate();
      const info = await fetch(`${relay.url}/v1/info`, { headers: { origin } });
      expect(info.status).toBe(200);
    }
  });

  it("a challenge is answered once", async () => {
    const bob = await registerAccount(relay, nowMs);
    const connection = new TestConnection(relay);
    const auth = authFrameOf(bob.devices[0]!, await connection.frame("challenge"), relay.origin);
    connection.send(auth);
    await connection.frame("ready");
    connection.send(auth);
    expect(await connection.frame("refused")).toMatchObject({ error: "malformed" });
    expect(await connection.end()).toBe(4400);
  });

  it("waits ten seconds for an answer", async () => {
    const silent = new TestConnection(relay);
    await silent.frame("challenge");
    await clock.advance(challengeMs - 1);
    expect(silent.closed).toBeUndefined();
    await clock.advance(1);
    expect(await silent.frame("refused")).toMatchObject({ error: "unauthorised" });
    expect(await silent.end()).toBe(4401);
  });
});

describe("frames", () => {
  it("O14: refuses malformed frames by type and logs nothing of them", async () => {
    const bob = await registerAccount(relay, nowMs);
    const secret = toBase64Url(systemRng(32));
    const frames: (string | Uint8Array)[] = [
      `{"type":"invite-key","id":1,"key":"${secret}"`,
      JSON.stringify({ type: "invite-key", id: 1, key: secret }),
      JSON.stringify({ type: "mailbox-status", id: 1, extra: secret }),
      JSON.stringify({ type: "ack", epoch: relay.epoch, seqs: [] }),
      JSON.stringify({ type: "ack", epoch: relay.epoch, seqs: Array(257).fill("1") }),
      JSON.stringify({ type: "unknown", id: 1 }),
      systemRng(64),
    ];
    for (const frame of frames) {
      const connection = await connectDevice(relay, bob.devices[0]!);
      connection.socket.send(frame);
      expect(await connection.frame("refused")).toMatchObject({ error: "malformed" });
      expect(await connection.end()).toBe(4400);
    }
    const log = logged.join("");
    expect(log).not.toContain(secret);
    expect(log).not.toContain(bob.devices[0]!.box);
    expect(log).not.toContain("127.0.0.1");
    expect(log).toContain("connection-refused");
  });

  it("R37: negotiates no compression, and refuses a frame beyond its size", async () => {
    const bob = await registerAccount(relay, nowMs);
    const connection = await connectDevice(relay, bob.devices[0]!);
    expect(connection.socket.extensions).toBe("");
    connection.socket.send("x".repeat(40_000));
    expect(await connection.end()).toBe(1009);
    expect((await fetch(`${relay.url}/health/live`)).status).toBe(200);
  });

  it("ignores acknowledgements of another epoch", async () => {
    const bob = await registerAccount(relay, nowMs);
    await send(bob);
    const connection = await connectDevice(relay, bob.devices[0]!);
    const { seq } = await connection.delivery();
    connection.send({ type: "ack", epoch: "another", seqs: [String(seq)] });
    const status = await connection.request({ type: "mailbox-status" });
    expect(status.ok).toMatchObject({ queued: 1 });
    connection.ack(seq);
    await connection.frame("drained");
    await connection.cut();
  });
});

describe("one connection per device", () => {
  it("displaces the old connection, which can neither acknowledge nor write from then on", async () => {
    const bob = await registerAccount(relay, nowMs);
    await send(bob);
    const old = await connectDevice(relay, bob.devices[0]!);
    const { seq } = await old.delivery();
    // Both are on their way while the new connection takes over.
    const taking = connectDevice(relay, bob.devices[0]!);
    expect(await old.frame("displaced")).toEqual({ type: "displaced" });
    expect(await old.end()).toBe(4001);
    const current = await taking;
    const again = await current.delivery();
    expect(again.seq).toBe(seq);
    const status = await current.request({ type: "mailbox-status" });
    expect(status.ok).toMatchObject({ queued: 1 });
    current.ack(again.seq);
    await current.frame("drained");
    await current.cut();
  });

  it("a stale connection is powerless even where no word of the new one arrives", async () => {
    const bob = await registerAccount(relay, nowMs);
    await send(bob);
    const [phone] = bob.devices;
    const old = await connectDevice(relay, phone!);
    const { seq } = await old.delivery();
    // What another process does, without telling.
    await claimSession(db.sql, { lane: 0, mailbox: phone!.box });
    const write = await old.request({ type: "mailbox-status" });
    expect(write.error).toMatchObject({ code: "unauthorised" });
    old.ack(seq);
    await old.frame("displaced");
    expect(await old.end()).toBe(4001);
    const current = await connectDevice(relay, phone!);
    expect((await current.request({ type: "mailbox-status" })).ok).toMatchObject({ queued: 1 });
    await current.cut();
  });
});

describe("pings", () => {
  // Each ping reads the mailbox, in real time: the clock moves on by more than a statement is given,
  // so the ten seconds of its bound never come here.
  const patient: Clock = {
    nowMs: clock.nowMs,
    schedule: (delayMs, run) => (delayMs === 10_000 ? () => {} : clock.schedule(delayMs, run)),
  };
  let own: Relay;
  beforeAll(async () => {
    own = await startRelay({ databaseUrl: db.url, clock: patient });
  });
  afterAll(() => own.close());

  it("R35, O4: come every 25 s, and two missed pongs end a connection, busy or not", async () => {
    const bob = await registerAccount(own, nowMs);
    const deaf = new WebSocket(`${own.url.replace("http", "ws")}/v1/device`, { autoPong: false });
    const [challenge] = await once(deaf, "message");
    const frame = JSON.parse(String(challenge));
    deaf.send(JSON.stringify(authFrameOf(bob.devices[0]!, frame, own.origin)));
    const heard = on(deaf, "message");
    for await (const [message] of heard) if (String(message).includes("drained")) break;
    const pinged = once(deaf, "ping");
    await clock.advance(pingIntervalMs);
    await pinged;
    const delivered = once(deaf, "message");
    await send(bob, own);
    await delivered;
    const again = once(deaf, "ping");
    await clock.advance(pingIntervalMs);
    await again;
    expect(deaf.readyState).toBe(WebSocket.OPEN);
    const closed = once(deaf, "close");
    await clock.advance(pingIntervalMs);
    expect((await closed)[0]).toBe(1006);
  });

  it("keep a connection that answers them", async () => {
    const bob = await registerAccount(own, nowMs);
    const connection = await connectDevice(own, bob.devices[0]!);
    for (let round = 0; round < 4; round++) {
      const pinged = once(connection.socket, "ping");
      await clock.advance(pingIntervalMs);
      await pinged;
      // A round trip behind the pong: the relay has read it.
      await connection.request({ type: "mailbox-status" });
    }
    expect(connection.closed).toBeUndefined();
    await connection.cut();
  });
});

describe("ends", () => {
  it("R41, O27: closes with sockets open, says 1001, and ends in time", async () => {
    const own = await openTestDatabase();
    const stopping = await startRelay({ databaseUrl: own.url, config: { drainMs: 500 } });
    const bob = await registerAccount(stopping, Date.now());
    const connection = await connectDevice(stopping, bob.devices[0]!);
    const halfOpen = new TestConnection(stopping);
    await halfOpen.frame("challenge");
    // A peer that never answers the close is cut at the bound.
    halfOpen.socket.pause();
    await stopping.close();
    expect(await connection.end()).toBe(1001);
    halfOpen.socket.terminate();
    await expect(fetch(`${stopping.url}/health/live`)).rejects.toThrow("fetch failed");
    await own.drop();
  });
});
