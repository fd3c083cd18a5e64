import { request as httpRequest, type IncomingMessage } from "node:http";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { type Clock, systemClock } from "../../../src/shared/clock.ts";
import { challengeMs } from "../../../src/shared/limits.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { authFrameOf, registerAccount, startRelay, TestConnection } from "../../support/relay.ts";

describe("an upgrade", () => {
  const clock = createManualClock();
  let db: TestDatabase;
  let relay: Relay;
  beforeAll(async () => {
    db = await openTestDatabase();
    relay = await startRelay({
      databaseUrl: db.url,
      clock,
      config: { addressRequestsPerMinute: 2, trustedProxies: ["127.0.0.0/8"] },
    });
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  it("of another path is refused as any request for it, and costs the address nothing", async () => {
    const from = "192.0.2.1";
    const refused = [404, "application/json; charset=utf-8", undefined, "not-found"];
    for (const path of ["/", "/v1/devices", "/v1/device/"]) {
      expect(await askUpgrade(relay, path, from)).toEqual(refused);
    }
    expect(await askUpgrade(relay, "/v1/device?because=1", from)).toEqual([101]);
  });

  it("is refused beyond the rate of the address that a trusted proxy names", async () => {
    for (const from of ["2001:db8::1", "2001:db8::2", "192.0.2.2"]) {
      expect(await askUpgrade(relay, "/v1/device", from)).toEqual([101]);
    }
    expect(await askUpgrade(relay, "/v1/device", "2001:db8::3")).toEqual([
      429,
      "application/json; charset=utf-8",
      "30",
      "rate-limited",
    ]);
  });

  it("that is none is a request for a path that is not there", async () => {
    const answer = await fetch(`${relay.url}/v1/device`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: "not-found" }]);
  });
});

it("in a storm, an answer that came in time and lies unread is not late", async () => {
  await using db = await openTestDatabase();
  const late: (() => void)[] = [];
  const clock: Clock = {
    nowMs: systemClock.nowMs,
    schedule: (delayMs, run) => {
      // The first of its two steps.
      if (delayMs !== challengeMs - 1_000) return systemClock.schedule(delayMs, run);
      late.push(run);
      return () => {};
    },
  };
  await using relay = await startRelay({ databaseUrl: db.url, clock });
  const bob = await registerAccount(relay, clock.nowMs());
  const connection = new TestConnection(relay);
  const auth = authFrameOf(bob.devices[0]!, await connection.frame("challenge"), relay.origin);
  // A busy loop comes to its timers before it reads what the device has sent.
  await new Promise<void>((resolve) =>
    setTimeout(() => {
      connection.send(auth);
      late.forEach((run) => run());
      resolve();
    }),
  );
  expect(await connection.frame("ready")).toMatchObject({ queued: 0 });
  await connection.cut();
});

/** 101, or the refusal: status, type, when to come back, code. */
async function askUpgrade(
  { url }: Relay,
  path: string,
  forwardedFor: string,
): Promise<readonly unknown[]> {
  const asked = httpRequest(url + path, {
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "x-forwarded-for": forwardedFor,
    },
  });
  asked.end();
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on("response", resolve);
    asked.on("upgrade", resolve);
    asked.on("error", reject);
  });
  if (reply.statusCode === 101) {
    reply.socket.destroy();
    return [101];
  }
  const parts: Buffer[] = [];
  for await (const part of reply) parts.push(part);
  const body: { error?: string } = JSON.parse(Buffer.concat(parts).toString("utf8"));
  return [
    reply.statusCode,
    reply.headers["content-type"],
    reply.headers["retry-after"],
    body.error,
  ];
}
