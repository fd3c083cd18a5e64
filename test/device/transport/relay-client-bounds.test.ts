import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { createHttpBench, upload } from "./http-bench.ts";
import { createEventLog, deadOrigin, serveTcp } from "./misbehaving.ts";

const { keep, transport, serving, jsonServer, closeAll } = createHttpBench();
afterEach(closeAll);

describe("bounds of an exchange", () => {
  it("follows no redirect, so a body never goes where nobody sent it", async () => {
    const target = await jsonServer(202, { time: "1", results: [], unaddressed: [] });
    const { origin } = await serving((_request, response) => {
      response.writeHead(307, { location: `${target.origin}/v1/envelopes` });
      response.end();
    });
    expect(await transport().upload(origin, upload)).toMatchObject({
      ok: false,
      error: { type: "protocol", reason: expect.stringContaining("redirects") },
    });
    expect(target.connections()).toBe(0);
  });

  it("stops reading a reply that does not end", async () => {
    let sent = 0;
    const { origin } = await serving((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(65_536, 0x20);
      const pour = (): void => {
        if (response.destroyed) return;
        sent += chunk.length;
        response.write(chunk, () => setImmediate(pour));
      };
      pour();
    });
    expect(await transport().info(origin)).toMatchObject({
      ok: false,
      error: { type: "protocol", reason: expect.stringContaining("over 65536 bytes") },
    });
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  it("counts a compressed reply by what it unpacks to", async () => {
    const { origin } = await serving((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.alloc(32 * 1_048_576, 0x20)));
    });
    expect(await transport().info(origin)).toMatchObject({
      ok: false,
      error: { type: "protocol" },
    });
  });

  it("gives up at the deadline, headers or not, by its own clock", async () => {
    const clock = createManualClock();
    const held = createRelayTransport({ clock, rng: seededRng("slow"), requestTimeoutMs: 30_000 });
    keep(held);
    for (const withHeaders of [false, true]) {
      const asked = createEventLog<true>();
      const { origin } = await serving((_request, response) => {
        if (withHeaders) {
          response.writeHead(200, { "content-type": "application/json" });
          response.write("{");
        }
        asked.push(true);
      });
      const answer = held.info(origin);
      await asked.until(() => true);
      await clock.advance(29_999);
      await clock.advance(1);
      expect(await answer).toEqual({
        ok: false,
        error: { type: "unreachable", reason: "no whole answer within 30 s" },
      });
      expect(clock.pending()).toBe(0);
    }
  });

  it("says so when the connection is cut, when nothing listens, and when it is no HTTP", async () => {
    const cut = await serveTcp((socket) => socket.once("data", () => socket.destroy()));
    const noise = await serveTcp((socket) =>
      socket.once("data", () => socket.end("220 mail.example ESMTP\r\n")),
    );
    keep(cut);
    keep(noise);
    const reached = transport();
    expect(await reached.info(cut.origin)).toEqual({
      ok: false,
      error: { type: "unreachable", reason: "the connection was cut" },
    });
    expect(await reached.info(await deadOrigin())).toEqual({
      ok: false,
      error: { type: "unreachable", reason: "nothing listens at the relay's address" },
    });
    expect(await reached.info(noise.origin)).toMatchObject({
      ok: false,
      error: { type: "unreachable" },
    });
  });

  it("takes a reply that is cut half-way as nothing at all", async () => {
    const { origin } = await serving((_request, response) => {
      response.writeHead(202, { "content-type": "application/json", "content-length": "500" });
      response.write('{"time":"1"', () => response.destroy());
    });
    expect(await transport().upload(origin, upload)).toMatchObject({
      ok: false,
      error: { type: "unreachable" },
    });
  });

  it("ends what is under way when it closes, and starts nothing after", async () => {
    const held = createRelayTransport({ clock: systemClock, rng: seededRng("close") });
    const asked = createEventLog<true>();
    const server = await serving(() => asked.push(true));
    const answer = held.info(server.origin);
    await asked.until(() => true);
    await held[Symbol.asyncDispose]();
    const closing = { ok: false, error: { type: "unreachable", reason: "this device is closing" } };
    expect(await answer).toEqual(closing);
    expect(await held.info(server.origin)).toEqual(closing);
    expect(server.connections()).toBe(1);
  });
});
