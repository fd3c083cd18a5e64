import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { postUpload, registerAccount, startRelay } from "../../support/relay.ts";

const octets = { "content-type": "application/octet-stream" };

describe("an upload before the framework", () => {
  const clock = createManualClock();
  const nowMs = clock.nowMs();
  let db: TestDatabase;
  let relay: Relay;
  let bob: RelayAccount;
  beforeAll(async () => {
    db = await openTestDatabase();
    relay = await startRelay({ databaseUrl: db.url, clock });
    bob = await registerAccount(relay, nowMs);
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  const upload = (to: Relay = relay, bucket = 0): Uint8Array =>
    uploadTo(bob, [bob.devices[0]!.mailbox], { origin: to.origin, nowMs, bucket });

  /** Statuses of uploads that come through a proxy from three hosts of one network, and from another one. */
  const statuses = async (to: Relay): Promise<unknown[]> => {
    const answers = [];
    for (const address of ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1"]) {
      const bytes = upload(to);
      const headers = { ...octets, "content-length": bytes.length, "x-forwarded-for": address };
      const [status] = await post(to, { headers, pieces: [bytes] });
      answers.push(status);
    }
    return answers;
  };

  it("is answered as by the framework, whatever way it comes", async () => {
    const json = "application/json; charset=utf-8";
    const bytes = upload();
    const whole = { ...octets, "content-length": bytes.length };
    expect(await post(relay, { headers: whole, pieces: [bytes] })).toEqual([
      202,
      json,
      undefined,
      ["stored"],
    ]);
    const again = [202, json, undefined, ["duplicate"]];
    // Chunked, with a query, and with a parameter of the type: the framework's own way.
    for (const way of [
      { pieces: [bytes] },
      { path: "/v1/envelopes?", headers: whole, pieces: [bytes] },
      { headers: { ...whole, "content-type": "application/octet-stream; v=1" }, pieces: [bytes] },
    ]) {
      expect(await post(relay, way)).toEqual(again);
    }
    const malformed = [400, json, undefined, "malformed"];
    expect(await post(relay, { pieces: [bytes.subarray(1)] })).toEqual(malformed);
    const short = { ...octets, "content-length": bytes.length - 1 };
    expect(await post(relay, { headers: short, pieces: [bytes.subarray(1)] })).toEqual(malformed);
  });

  it("may come in pieces, and not at all", async () => {
    // More than a socket is read at once.
    const bytes = upload(relay, 4);
    const head = `POST /v1/envelopes HTTP/1.1\r\nhost: relay\r\ncontent-type: application/octet-stream\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    const broken = await open(relay);
    broken.write(head);
    broken.write(bytes.subarray(0, 1_000));
    broken.destroy();
    const slow = await open(relay);
    for (const piece of [head.slice(0, 20), head.slice(20), bytes.subarray(0, 7)]) {
      await new Promise((written) => slow.write(piece, written));
    }
    slow.write(bytes.subarray(7));
    const [reply]: Buffer[] = await once(slow, "data");
    expect(reply!.toString("utf8")).toContain('"state":"stored"');
    slow.destroy();
  });

  it("counts by the address that a trusted proxy names, and by no other", async () => {
    const settings = { addressRequestsPerMinute: 2, mailboxUploadsPerMinute: 1_000 };
    await using behind = await startRelay({
      databaseUrl: db.url,
      clock,
      config: { ...settings, trustedProxies: ["127.0.0.0/8"] },
    });
    expect(await statuses(behind)).toEqual([202, 202, 429, 202]);
    await using bare = await startRelay({ databaseUrl: db.url, clock, config: settings });
    expect(await statuses(bare)).toEqual([202, 202, 429, 429]);
  });

  it("is answered when the database fails, as every request", async () => {
    const other = await openTestDatabase();
    await using failing = await startRelay({ databaseUrl: other.url, clock });
    await other.sql`drop table access_key`;
    const answer = await postUpload(failing, upload(failing));
    expect(answer).toMatchObject({ status: 503, body: { error: "overloaded" } });
    await failing.close();
    await other.drop();
  });

  it("ends its connection with the answer, once the relay stops", async () => {
    const stopping = await startRelay({ databaseUrl: db.url, clock });
    const bytes = upload(stopping);
    // A pool that is new to its database has nothing to reserve yet.
    await db.sql`select 1`;
    const held = await db.sql.reserve();
    await held`begin`;
    await held`lock table mailbox in access exclusive mode`;
    const sent = httpRequest(`${stopping.url}/v1/envelopes`, {
      method: "POST",
      headers: { ...octets, "content-length": bytes.length, connection: "keep-alive" },
    });
    const replied = once(sent, "response");
    sent.end(bytes);
    for (let waiting = 0; waiting === 0;) {
      const rows = await held`select 1 from pg_locks join pg_database d on d.oid = database
        where not granted and datname = current_database()`;
      waiting = rows.length;
    }
    const closed = stopping.close();
    while (await isListening(stopping));
    await held`rollback`;
    held.release();
    const [reply]: IncomingMessage[] = await replied;
    expect([reply!.statusCode, reply!.headers.connection]).toEqual([202, "close"]);
    reply!.resume();
    await closed;
  });
});

interface Post {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly pieces: readonly Uint8Array[];
}

/** Status, headers that tell something, and the body without the time. */
async function post(
  to: Relay,
  { path = "/v1/envelopes", headers = octets, pieces }: Post,
): Promise<readonly unknown[]> {
  const sent = httpRequest(to.url + path, { method: "POST", headers, agent: false });
  for (const piece of pieces) sent.write(piece);
  sent.end();
  const [reply]: IncomingMessage[] = await once(sent, "response");
  const parts: Buffer[] = [];
  for await (const part of reply!) parts.push(part);
  const { time, ...body } = JSON.parse(Buffer.concat(parts).toString("utf8"));
  expect(time).toMatch(/^\d+$/);
  return [
    reply!.statusCode,
    reply!.headers["content-type"],
    reply!.headers["retry-after"],
    body.error ?? body.results?.map(({ state }: { state: string }) => state),
  ];
}

async function open({ port }: Relay): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  return socket;
}

async function isListening(relay: Relay): Promise<boolean> {
  try {
    (await open(relay)).destroy();
    return true;
  } catch {
    return false;
  }
}
