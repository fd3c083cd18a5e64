import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { encodeDelivery } from "../../../src/shared/wire/frames.ts";
import {
  challenge,
  comeBack,
  createWorkbench,
  isType,
  ready,
  whenOffline,
} from "./scripted-mailbox.ts";

const { connect, scripted, serving, closeAll } = createWorkbench();
afterEach(closeAll);

describe("admission", () => {
  it("answers the challenge, and is ready with what the relay says", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    expect(device.mailbox.state()).toEqual({ type: "connecting" });
    const side = await relay.side(0);
    expect(side.request.url).toBe("/v1/device");
    side.say(challenge);
    const auth = await side.received.until((frame) => frame["type"] === "auth");
    expect(auth).toEqual({
      type: "auth",
      device_id: Buffer.alloc(16, 5).toString("base64url"),
      sig: Buffer.alloc(64, 9).toString("base64url"),
    });
    expect(device.challenges.items).toEqual([
      { nonce: new Uint8Array(32).fill(7), timeMs: 1_800_000_000_000n },
    ]);
    side.say(ready());
    expect(await device.states.until(isType("ready"))).toEqual({
      type: "ready",
      epoch: "e1",
      queued: 3,
      refused: { count: 2, sinceMs: 1_799_999_990_000 },
      relayTimeMs: 1_800_000_000_500,
    });
  });

  it("R37: offers no compression", async () => {
    const relay = await scripted();
    connect(relay.origin);
    const side = await relay.side(0);
    expect(side.request.headers["sec-websocket-extensions"]).toBeUndefined();
    expect(side.socket.extensions).toBe("");
  });

  it("R10: processes frames that arrive in the same packet as the upgrade", async () => {
    const relay = await serving(
      (_request, response) => response.end(),
      (request, socket) => {
        const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
        const accept = createHash("sha1").update(key).digest("base64");
        const text = Buffer.from(JSON.stringify(challenge));
        socket.write(
          Buffer.concat([
            Buffer.from(
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
                `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
            ),
            Buffer.from([0x81, text.length]),
            text,
          ]),
        );
      },
    );
    expect(JSON.stringify(challenge).length).toBeLessThan(126);
    const device = connect(relay.origin);
    await device.challenges.until(() => true);
    expect(device.states.items).toEqual([]);
    // This server never says goodbye: it goes first.
    await relay[Symbol.asyncDispose]();
  });

  it("R29: a relay that accepts and says nothing is given up, with a reason", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    await relay.side(0);
    await device.clock.advance(19_999);
    expect(device.states.items).toEqual([]);
    await device.clock.advance(1);
    expect((await whenOffline(device)).reason).toBe(
      "the relay did not admit this device within 20 s",
    );
  });

  it("R29: a TCP peer that never answers the upgrade is given up too", async () => {
    const relay = await serving(
      (_request, response) => response.end(),
      () => {},
    );
    const device = connect(relay.origin);
    await device.clock.advance(20_000);
    expect((await whenOffline(device)).reason).toContain("did not admit");
  });

  it.each([
    ["ready without a challenge", (): object => ready()],
    ["a reply before it is ready", () => ({ type: "reply", id: 1, time: "1", ok: {} })],
    ["drained before it is ready", () => ({ type: "drained", through: "1" })],
    ["a frame of no known type", () => ({ type: "surprise", secret: "hunter2" })],
  ])("ends the connection on %s, and quotes nothing of it", async (_name, frame) => {
    const relay = await scripted();
    const device = connect(relay.origin);
    (await relay.side(0)).say(frame());
    const { reason } = await whenOffline(device);
    expect(reason).toMatch(/out of order|no known form/);
    expect(reason).not.toContain("hunter2");
  });

  it("answers one challenge only: a second one could be another relay's", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    side.say(challenge);
    side.say(challenge);
    await whenOffline(device);
    expect(device.challenges.items).toHaveLength(1);
  });

  it("hands over no delivery before it is ready", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    (await relay.side(0)).deliver(1n);
    await whenOffline(device);
    expect(device.deliveries.items).toEqual([]);
  });

  it("R49: takes the largest delivery there can be, and nothing larger", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    side.deliver(1n, new Uint8Array(2 + 1_176 + 262_144 + 48));
    await device.deliveries.until((delivery) => delivery.seq === 1n);
    side.deliver(2n, new Uint8Array(2 + 1_176 + 262_144 + 49));
    await whenOffline(device);
    expect(device.deliveries.items).toHaveLength(1);
  });
});

describe("deliveries and acknowledgements", () => {
  it("hands deliveries on in order, and acknowledges what the inbox journalled", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit("epoch-a");
    for (let seq = 1n; seq <= 300n; seq += 1n) side.deliver(seq);
    side.say({ type: "drained", through: "300" });
    expect(await device.drained.until(() => true)).toBe(300n);
    const seqs = device.deliveries.items.map((delivery) => delivery.seq);
    expect(seqs).toEqual(Array.from({ length: 300 }, (_, index) => BigInt(index + 1)));
    device.mailbox.acknowledge(seqs);
    await side.received.until((frame) => JSON.stringify(frame).includes('"300"'));
    const acks = side.received.items.filter((frame) => frame["type"] === "ack");
    const texts = seqs.map(String);
    expect(acks).toEqual([
      { type: "ack", epoch: "epoch-a", seqs: texts.slice(0, 256) },
      { type: "ack", epoch: "epoch-a", seqs: texts.slice(256) },
    ]);
  });

  it("copies items out of the socket's memory", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    side.deliver(1n, new Uint8Array([1, 2, 3]));
    const { item } = await device.deliveries.until(() => true);
    expect(item.constructor).toBe(Uint8Array);
    expect(item.buffer.byteLength).toBe(3);
  });

  it("drops an acknowledgement for a connection that is gone; the redelivery is acknowledged", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const first = await relay.side(0);
    await first.admit();
    first.deliver(4n);
    await device.deliveries.until(() => true);
    first.socket.terminate();
    await whenOffline(device);
    device.mailbox.acknowledge([4n]);
    await comeBack(device);
    const second = await relay.side(1);
    await second.admit();
    second.deliver(4n);
    await device.deliveries.until(() => device.deliveries.items.length === 2);
    device.mailbox.acknowledge([4n]);
    const ack = await second.received.until((frame) => frame["type"] === "ack");
    expect(ack).toEqual({ type: "ack", epoch: "e1", seqs: ["4"] });
    expect(second.received.items.filter((frame) => frame["type"] === "ack")).toHaveLength(1);
  });

  it("ends a relay that floods it without waiting for acknowledgements", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    for (let seq = 1n; seq <= 1_100n; seq += 1n) side.deliver(seq);
    expect((await whenOffline(device)).reason).toContain("over 1024 items");
    expect(device.deliveries.items).toHaveLength(1_024);
  });

  it("ends the connection on a delivery that is no delivery", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    const frame = encodeDelivery({ seq: 1n, redelivered: false, item: new Uint8Array(1) });
    frame[8] = 2;
    side.socket.send(frame);
    await whenOffline(device);
    expect(device.deliveries.items).toEqual([]);
  });
});
