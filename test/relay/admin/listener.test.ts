/** The operator's listener on a running relay: what it counts, what it never shows, whom it answers. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type AdminListener, openAdminListener } from "../../../src/relay/admin/listener.ts";
import type { Relay } from "../../../src/relay/index.ts";
import { toBase64Url } from "../../../src/shared/bytes.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { type RelayAccount, uploadTo } from "../../support/accounts.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { connectDevice, postUpload, registerAccount, startRelay } from "../../support/relay.ts";

/** The value of a metric with its labels, or undefined. */
async function metric(relay: Relay, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${relay.adminUrl}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`pixie_relay_${name} `));
  return line === undefined ? undefined : Number(line.split(" ")[1]);
}

/** The answer to a request with a host header of one's own. */
async function answerFor(url: string, host: string, method = "GET"): Promise<IncomingMessage> {
  const sent = request(url, { method, headers: { host } });
  sent.end();
  const [response] = await once(sent, "response");
  return response;
}

async function statusFor(url: string, host: string, method = "GET"): Promise<number | undefined> {
  const response = await answerFor(url, host, method);
  response.resume();
  return response.statusCode;
}

/** A listener with one page. */
async function open(isLoopback: boolean): Promise<AdminListener> {
  const reply = { status: 200, type: "text/plain", body: "seen" };
  const pages = new Map([["/page", () => Promise.resolve(reply)]]);
  const opened = await openAdminListener({ host: "127.0.0.1", port: 0, isLoopback, pages });
  if (!opened.ok) throw new Error(String(opened.error.cause));
  return opened.value;
}

describe("metrics of a relay", () => {
  let db: TestDatabase;
  let relay: Relay;
  let bob: RelayAccount;
  beforeEach(async () => {
    db = await openTestDatabase();
    relay = await startRelay({ databaseUrl: db.url });
    bob = await registerAccount(relay, systemClock.nowMs());
  });
  afterEach(async () => {
    await relay.close();
    await db.drop();
  });
  const upload = (key?: Uint8Array): Uint8Array =>
    uploadTo(bob, [bob.devices[0]!.mailbox], {
      origin: relay.origin,
      nowMs: systemClock.nowMs(),
      ...(key === undefined ? {} : { key }),
    });

  it("count what happened, by results", async () => {
    const bytes = upload();
    await postUpload(relay, bytes);
    await postUpload(relay, bytes);
    await postUpload(relay, upload(new Uint8Array(32)));
    expect(await metric(relay, 'uploads_total{result="accepted"}')).toBe(2);
    expect(await metric(relay, 'uploads_total{result="token-invalid"}')).toBe(1);
    expect(await metric(relay, 'copies_total{state="stored"}')).toBe(1);
    expect(await metric(relay, 'copies_total{state="duplicate"}')).toBe(1);
    expect(await metric(relay, "batch_rows_sum")).toBe(2);
    expect(await metric(relay, "commit_seconds_count")).toBe(2);
    expect(await metric(relay, "queue_rows")).toBe(0);
    expect(await metric(relay, "queue_bytes")).toBe(0);
    const phone = await connectDevice(relay, bob.devices[0]!);
    expect(await metric(relay, "connections")).toBe(1);
    phone.ack((await phone.delivery()).seq);
    await phone.frame("drained");
    expect(await metric(relay, "deliveries_total")).toBe(1);
    expect(await metric(relay, "acknowledged_items_total")).toBe(1);
    await phone.cut();
  });

  it("show the hot tables, the oldest transaction and the event loop", async () => {
    await db.sql`analyze mailbox`;
    await db.sql`select pg_stat_force_next_flush()`;
    expect(await metric(relay, "database_up")).toBe(1);
    for (const table of ["item", "body", "mailbox"]) {
      expect(await metric(relay, `table_dead_rows{table="${table}"}`)).toBeGreaterThanOrEqual(0);
    }
    expect(await metric(relay, 'table_live_rows{table="mailbox"}')).toBe(1);
    expect(await metric(relay, "oldest_transaction_seconds")).toBeGreaterThanOrEqual(0);
    const held = await db.sql.reserve();
    await held`begin`;
    await held`select 1`;
    await held`select pg_sleep(0.05)`;
    expect(await metric(relay, "oldest_transaction_seconds")).toBeGreaterThan(0.05);
    await held`rollback`;
    held.release();
    await fetch(`${relay.adminUrl}/health/live`);
    expect(await metric(relay, 'event_loop_lag_seconds{quantile="0.99"}')).toBeGreaterThan(0);
  });

  it("name nobody", async () => {
    await postUpload(relay, upload());
    const text = await (await fetch(`${relay.adminUrl}/metrics`)).text();
    const [phone] = bob.devices;
    for (const id of [phone!.mailbox, phone!.deviceId, bob.accountMailbox, bob.accessKey]) {
      expect(text).not.toContain(toBase64Url(id));
      expect(text).not.toContain(Buffer.from(id).toString("hex"));
    }
    expect(text).not.toMatch(/127\.0\.0\.1|[0-9a-f]{8}-[0-9a-f]{4}/);
    const labels = [...text.matchAll(/([a-z]+)="([^"]*)"/g)].map((found) => found[1]);
    const closed = ["le", "quantile", "result", "state", "table", "event"];
    expect(labels.length).toBeGreaterThan(20);
    expect(labels.filter((label) => !closed.includes(label ?? ""))).toEqual([]);
  });

  it("are not on the port that clients reach", async () => {
    expect((await fetch(`${relay.url}/metrics`)).status).toBe(404);
  });

  it("O12: health is there, too, and tells a dead database from a dead process", async () => {
    await using own = await openTestDatabase();
    await using doomed = await startRelay({ databaseUrl: own.url });
    const ask = async (path: string): Promise<number> =>
      (await fetch(doomed.adminUrl + path)).status;
    expect([await ask("/health/live"), await ask("/health/ready")]).toEqual([200, 200]);
    await own.drop();
    expect([await ask("/health/live"), await ask("/health/ready")]).toEqual([200, 503]);
    expect(await metric(doomed, "database_up")).toBe(0);
  });

  it("a port in use is said, with the setting", async () => {
    const port = Number(new URL(relay.adminUrl).port);
    await expect(startRelay({ databaseUrl: db.url, config: { adminPort: port } })).rejects.toThrow(
      /cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\): .* another admin_port$/,
    );
  });
});

describe("the listener", () => {
  it("O15: on loopback it answers loopback names only", async () => {
    const listener = await open(true);
    const url = `${listener.url}/page`;
    for (const host of ["localhost", "127.0.0.1:80", "[::1]:9", "127.9.9.9"]) {
      expect(await statusFor(url, host)).toBe(200);
    }
    for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"]) {
      expect(await statusFor(url, host)).toBe(403);
    }
    await listener.close();
    const elsewhere = await open(false);
    expect(await statusFor(`${elsewhere.url}/page`, "metrics.example")).toBe(200);
    await elsewhere.close();
  });

  it("O17: whoever asks by a name of their own learns which setting it is about", async () => {
    const listener = await open(true);
    const answer = await answerFor(`${listener.url}/page`, "metrics.example");
    expect(answer.statusCode).toBe(403);
    expect(await textOf(answer)).toMatch(
      /^the host header .* ask by one of these, or set admin_host/,
    );
    await listener.close();
  });

  it("only reads, and names its paths", async () => {
    const listener = await open(true);
    expect(await statusFor(`${listener.url}/page`, "localhost", "POST")).toBe(405);
    expect(await statusFor(`${listener.url}/page`, "localhost", "HEAD")).toBe(200);
    const missing = await fetch(`${listener.url}/gone`);
    expect([missing.status, await missing.text()]).toEqual([404, "the paths are /page\n"]);
    await listener.close();
  });

  it("O27: closes while a connection is open", async () => {
    const listener = await open(true);
    const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
    await once(socket, "connect");
    const ended = once(socket, "close");
    socket.resume();
    await listener.close();
    await ended;
    expect(socket.destroyed).toBe(true);
  });
});
