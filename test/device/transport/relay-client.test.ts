import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createRelayTransport } from "../../../src/device/transport/relay-client.ts";
import type { RelayTransport } from "../../../src/device/transport/port.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { createEventLog, deadOrigin, serveHttp, serveTcp, type TestServer } from "./misbehaving.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

function transport(): RelayTransport {
  const made = createRelayTransport({ clock: systemClock, rng: seededRng("http") });
  open.push(made);
  return made;
}

async function serving(...parameters: Parameters<typeof serveHttp>): Promise<TestServer> {
  const server = await serveHttp(...parameters);
  open.push(server);
  return server;
}

async function jsonServer(status: number, body: unknown): Promise<TestServer> {
  return await serving((_request, response) => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify(body));
  });
}

const upload = new Uint8Array([1, 2, 3]);

describe("what a relay's reply means", () => {
  it("takes an answer of the right form, with the relay's time", async () => {
    const { origin } = await jsonServer(202, {
      time: "1800000000123",
      results: [],
      unaddressed: [],
    });
    const answer = await transport().upload(origin, upload);
    expect(answer).toEqual({
      ok: true,
      value: {
        reply: { time: "1800000000123", results: [], unaddressed: [] },
        relayTimeMs: 1_800_000_000_123,
      },
    });
  });

  it("types a refusal, with when to come back and whom it names", async () => {
    const mailbox = "AAAAAAAAAAAAAAAAAAAAAA";
    const { origin } = await jsonServer(429, {
      error: "rate-limited",
      message: "slower",
      time: "5",
      retry_after_ms: 1_500,
      mailboxes: [mailbox],
    });
    expect(await transport().upload(origin, upload)).toEqual({
      ok: false,
      error: {
        type: "refused",
        refusal: {
          code: "rate-limited",
          message: "slower",
          retryAfterMs: 1_500,
          mailboxes: [mailbox],
        },
        relayTimeMs: 5,
      },
    });
  });

  it.each([
    ["another field type", 202, { time: "1", results: "no", unaddressed: [] }],
    ["no time", 202, { results: [], unaddressed: [] }],
    ["a time beyond u64", 202, { time: "99999999999999999999", results: [], unaddressed: [] }],
    ["a code of a newer relay", 418, { error: "teapot", message: "", time: "1" }],
    ["a bare 404", 404, { message: "Route not found" }],
  ])("calls %s no pixie relay of this version", async (_name, status, body) => {
    const { origin } = await jsonServer(status, body);
    expect(await transport().upload(origin, upload)).toMatchObject({
      ok: false,
      error: { type: "protocol", reason: expect.stringContaining(`status ${status}`) },
    });
  });

  it.each([
    ["text/html", "<html>Welcome to the hotel network</html>"],
    ["text/plain", JSON.stringify({ time: "1", results: [], unaddressed: [] })],
  ])("calls a %s page of the right status no relay", async (type, page) => {
    const { origin } = await serving((_request, response) => {
      response.writeHead(202, { "content-type": type });
      response.end(page);
    });
    expect(await transport().upload(origin, upload)).toMatchObject({
      ok: false,
      error: { type: "protocol", reason: expect.stringContaining(type) },
    });
  });

  it.each([502, 503, 504])(
    "takes a proxy's %i page as unreachable, to be retried",
    async (status) => {
      const { origin } = await serving((_request, response) => {
        response.writeHead(status, { "content-type": "text/html" });
        response.end("<html>Bad Gateway</html>");
      });
      expect(await transport().upload(origin, upload)).toMatchObject({
        ok: false,
        error: { type: "unreachable", reason: expect.stringContaining(`${status}`) },
      });
    },
  );

  it("takes the relay's own 503 as the refusal that it is", async () => {
    const body = { error: "overloaded", message: "busy", time: "1", retry_after_ms: 10 };
    const { origin } = await jsonServer(503, body);
    expect(await transport().upload(origin, upload)).toMatchObject({
      ok: false,
      error: { type: "refused", refusal: { code: "overloaded", retryAfterMs: 10 } },
    });
  });
});

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
    open.push(held);
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
    open.push(cut, noise);
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

describe("metadata", () => {
  it("never sends an anonymous request over the mailbox's connection", async () => {
    const anonymous = new Set<number | undefined>();
    const mailboxes = createEventLog<number | undefined>();
    const server = await serving(
      (request, response) => {
        anonymous.add(request.socket.remotePort);
        response.writeHead(404).end();
      },
      (request) => mailboxes.push(request.socket.remotePort),
    );
    const held = transport();
    await held.upload(server.origin, upload);
    const mailbox = held.openMailbox(
      {
        relayOrigin: server.origin,
        deviceId: new Uint8Array(16),
        answerChallenge: () => new Uint8Array(64),
      },
      { onState: () => {}, onDelivery: () => {}, onDrained: () => {} },
    );
    const port = await mailboxes.until(() => true);
    await held.upload(server.origin, upload);
    await held.info(server.origin);
    expect(anonymous.size).toBeGreaterThan(0);
    expect(anonymous.has(port)).toBe(false);
    await server[Symbol.asyncDispose]();
    await mailbox.close();
  });
});

describe("rendezvous boxes", () => {
  it("tells an empty box from a relay that has none", async () => {
    const empty = await jsonServer(404, { error: "not-found", message: "empty", time: "7" });
    const foreign = await jsonServer(404, { message: "Not Found" });
    const reached = transport();
    expect(await reached.getBox(empty.origin, "id", 1)).toEqual({
      ok: true,
      value: { reply: undefined, relayTimeMs: 7 },
    });
    expect(await reached.getBox(foreign.origin, "id", 1)).toMatchObject({
      ok: false,
      error: { type: "protocol" },
    });
  });

  it("refuses a box over 16 KiB, and one that is no bytes", async () => {
    const large = await serving((_request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.end(Buffer.alloc(16_385));
    });
    const page = await serving((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.end("box");
    });
    const reached = transport();
    for (const { origin } of [large, page]) {
      expect(await reached.getBox(origin, "id", 2)).toMatchObject({
        ok: false,
        error: { type: "protocol" },
      });
    }
  });
});
