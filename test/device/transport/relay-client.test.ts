import { afterEach, describe, expect, it } from "vitest";
import { createHttpBench, upload } from "./http-bench.ts";
import { createEventLog } from "./misbehaving.ts";

const { transport, serving, jsonServer, closeAll } = createHttpBench();
afterEach(closeAll);

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
