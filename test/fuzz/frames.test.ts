/**
 * 30,000 frames that are almost right: 20,000 at the parser, 10,000 as raw bytes at a running relay,
 * each on a connection of its own, since the first wrong one ends it.
 */
import { once } from "node:events";
import { connect } from "node:net";

import { describe, expect, it } from "vitest";

import { parseDeviceFrame } from "../../src/shared/wire/frames.ts";
import {
  expectService,
  keptPerTime,
  nothingKept,
  startFuzzedRelay,
} from "../support/fuzzed-relay.ts";
import { createMutator, type Mutator } from "../support/mutations.ts";

const id = "AAAAAAAAAAAAAAAAAAAAAA";
const frames: readonly string[] = [
  JSON.stringify({ type: "auth", device_id: id, sig: "A".repeat(86) }),
  JSON.stringify({ type: "ack", epoch: "e", seqs: ["1", "2", "18446744073709551615"] }),
  JSON.stringify({ type: "mailbox-status", id: 1 }),
  JSON.stringify({ type: "revoke-invite-key", id: 2, invite_id: id }),
];

describe("frames that are almost right", () => {
  it("never make the parser throw, 20,000 of them", () => {
    const mutator = createMutator("frame texts");
    for (let round = 0; round < 20_000; round += 1) {
      const text = Buffer.from(mutator.text(mutator.pick(frames))).toString("utf8");
      expect(typeof parseDeviceFrame(text).ok).toBe("boolean");
    }
  });

  it(
    "end their connections, 10,000 of them, and leave nothing behind",
    { timeout: 180_000 },
    async () => {
      await using fuzzed = await startFuzzedRelay();
      const { relay } = fuzzed;
      const mutator = createMutator("frame bytes");
      const send = async (): Promise<void> => speakOnce(relay.url, frameBytes(mutator));
      expect(await keptPerTime(10_000, send, 32)).toBeLessThan(nothingKept);
      const metrics = await (await fetch(`${relay.adminUrl}/metrics`)).text();
      expect(metrics).toMatch(/^pixie_relay_connections 0$/m);
      await expectService(fuzzed);
    },
  );
});

/** Half of the time the text is wrong in a sound frame, otherwise the frame itself is. */
function frameBytes(mutator: Mutator): Uint8Array {
  const text = mutator.pick(frames);
  return mutator.below(2) === 0
    ? masked(mutator.text(text))
    : mutator.bytes(masked(Buffer.from(text, "utf8")));
}

/** One text frame as a client sends it, masked with zeros. RFC 6455, 5.2. */
function masked(payload: Uint8Array): Uint8Array {
  const length =
    payload.length < 126
      ? [0x80 | payload.length]
      : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Uint8Array.from([0x81, ...length, 0, 0, 0, 0]), payload]);
}

const upgrade = [
  "GET /v1/device HTTP/1.1",
  "Host: relay",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  "",
  "",
].join("\r\n");

/** Upgrades, says these bytes, hangs up, and waits until the relay has, too. */
async function speakOnce(url: string, bytes: Uint8Array): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  // A relay that cuts the connection of who speaks nonsense is right.
  socket.on("error", () => undefined);
  socket.write(upgrade);
  const closed = once(socket, "close");
  socket.once("data", () => socket.end(bytes));
  socket.resume();
  await closed;
}
