/** The daemon's socket: who reaches it, what it answers, and that no client can hurt it. */
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type DaemonClient, findDaemon } from "../../../src/device/api/client.ts";
import { type ApiServer, serveApi } from "../../../src/device/api/server.ts";
import { findSocket } from "../../../src/device/api/socket-path.ts";
import { err } from "../../../src/shared/result.ts";
import {
  type FakeDevice,
  fakeDevice,
  fakeDeviceView,
  fakeIdentity,
} from "../../support/fake-device.ts";

let folder: string;
let fake: FakeDevice;
let server: ApiServer;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-api-"));
  fake = fakeDevice();
  server = await serveApi(fake.device, folder);
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function client(dataDir = folder): Promise<DaemonClient> {
  const found = await findDaemon(dataDir);
  if (!found.ok || found.value === undefined) throw new Error("no daemon");
  return found.value;
}

function post(name: string, body: string, type = "application/json"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const req = request({
      socketPath: server.socketPath,
      path: `/op/${name}`,
      method: "POST",
      headers: { "content-type": type },
    });
    req.on("response", (response) => resolve(response.resume().statusCode));
    req.on("error", reject);
    req.end(body);
  });
}

/** A raw client that has asked for the stream of changes and got its head. */
async function listener(): Promise<Socket> {
  const socket = connect(server.socketPath);
  const headed = once(socket, "data");
  // This end may be torn down by the test, or by the daemon when it closes.
  socket.on("error", () => socket.destroy());
  socket.write("GET /events HTTP/1.1\r\nhost: device\r\n\r\n");
  await headed;
  return socket;
}

/** The status of a request for changes, which is given up at once. */
function eventsStatus(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const req = request({ socketPath: server.socketPath, path: "/events" });
    req.on("response", (response) => {
      resolve(response.statusCode);
      req.destroy();
    });
    req.on("error", reject);
    req.end();
  });
}

describe("socket", () => {
  it("is the owner's alone", () => {
    expect(statSync(server.socketPath).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  it("goes with its server, and one that a killed daemon left is replaced", async () => {
    await server.close();
    expect(findSocket(folder)).toBeUndefined();
    const dead = createServer().listen(path.join(folder, "device.sock"));
    await once(dead, "listening");
    expect(await findDaemon(folder, 200)).toMatchObject({
      ok: false,
      error: { type: "daemon-trouble" },
    });
    dead.close();
    server = await serveApi(fake.device, folder);
    expect((await client()).pid).toBe(process.pid);
  });

  it("moves to a short folder of its own when the path is too long, and leaves nothing there", async () => {
    const long = path.join(folder, "x".repeat(120));
    mkdirSync(long, { mode: 0o700 });
    const other = await serveApi(fakeDevice().device, long);
    expect(Buffer.byteLength(other.socketPath)).toBeLessThan(100);
    expect(statSync(path.dirname(other.socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(other.socketPath).mode & 0o777).toBe(0o600);
    expect(findSocket(long)).toBe(other.socketPath);
    expect((await client(long)).pid).toBe(process.pid);
    await other.close();
    expect(existsSync(path.dirname(other.socketPath))).toBe(false);
    expect(readdirSync(long)).toEqual([]);
  });

  it("is not looked for through a pointer that names something else", () => {
    writeFileSync(path.join(folder, "device.sock.path"), "/etc/passwd\n");
    expect(findSocket(folder)).toBe(server.socketPath);
    rmSync(path.join(folder, "device.sock.path"));
  });
});

describe("operations", () => {
  it("answer with the device's views, undefined as null", async () => {
    const { call } = await client();
    expect(await call("status", {})).toEqual({
      ok: true,
      value: {
        identity: fakeIdentity,
        connection: "ready",
        outboxOpen: 0,
        setAside: 0,
        relayOffsetMs: 0,
      },
    });
    expect(await call("contacts", {})).toMatchObject({ value: [{ name: "ben", reason: null }] });
    expect(await call("send", { contact: "ben", text: "hi" })).toMatchObject({ ok: true });
    expect(fake.calls).toEqual(["send ben hi"]);
  });

  it("hand a device's refusal through, type and words", async () => {
    await server.close();
    const refusal = { type: "no-such-contact", message: "there is no contact zoe" };
    fake = fakeDevice({ send: () => err(refusal) });
    server = await serveApi(fake.device, folder);
    expect(await (await client()).call("send", { contact: "zoe", text: "" })).toEqual({
      ok: false,
      error: refusal,
    });
  });

  it("share, review and accept travel whole", async () => {
    const { call } = await client();
    const shared = await call("share-skill", { id: "search-info", contact: "ben" });
    expect(shared.ok).toBe(true);
    fake.library.receive("ben", "m1", fake.library.sent[0]?.text ?? "");
    const review = await call("review-share", { messageId: "m1" });
    if (!review.ok) throw new Error(review.error.message);
    expect(review.value.items).toHaveLength(2);
    expect(
      await call("accept-share", { messageId: "m1", acceptHash: review.value.acceptHash }),
    ).toEqual({
      ok: true,
      value: { lines: ["Nothing new — you already had all of this."], imported: [] },
    });
  });

  it("refuse what nobody checked: unknown names, forms and content types", async () => {
    expect(await post("send", '{"contact":"ben"}')).toBe(422);
    expect(await post("send", '{"contact":"ben","text":"x","more":1}')).toBe(422);
    expect(await post("send", '{"contact":')).toBe(400);
    expect(await post("send", '{"contact":"ben","text":"x"}', "text/plain")).toBeGreaterThan(399);
    expect(await post("constructor", "{}")).toBe(404);
    expect(fake.calls).toEqual([]);
  });

  it("grant a link in two steps: the digits at once, the new device when it is there", async () => {
    const { call } = await client();
    const begun = await call("grant-link", { code: "pixie-link:x" });
    if (!begun.ok) throw new Error(begun.error.message);
    expect(begun.value).toMatchObject({ digits: "12345678", newDeviceName: "phone" });
    const waiting = call("await-grant", { grant: begun.value.grant });
    fake.settleGrant();
    expect(await waiting).toEqual({ ok: true, value: fakeDeviceView });
    expect(await call("await-grant", { grant: begun.value.grant })).toMatchObject({
      error: { type: "no-such-grant" },
    });
  });

  it("grant at most four links at a time", async () => {
    const { call } = await client();
    const grants: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const begun = await call("grant-link", { code: "x" });
      if (begun.ok) grants.push(begun.value.grant);
    }
    expect(grants).toHaveLength(4);
    expect(await call("grant-link", { code: "x" })).toMatchObject({
      error: { type: "too-many-grants" },
    });
    await call("cancel-grant", { grant: grants[0] ?? "" });
    expect(fake.calls).toContain("cancel");
    expect((await call("grant-link", { code: "x" })).ok).toBe(true);
  });
});

describe("changes", () => {
  it("reach a listener as they happen", async () => {
    const stop = new AbortController();
    const { events } = await client();
    const got = new Promise<string>((resolve, reject) => {
      events(resolve, stop.signal).catch(reject);
    });
    await until(
      () => fake.listeners() > 0,
      () => fake.emit({ type: "drained" }),
      got,
    );
    expect(JSON.parse(await got)).toEqual({ type: "drained" });
    stop.abort();
  });

  it("O5: a client that went away mid-stream hurts neither the daemon nor the others", async () => {
    const broken = await listener();
    const healthy = await listener();
    broken.destroy();
    const line = once(healthy, "data");
    for (let i = 0; i < 50; i += 1) fake.emit({ type: "set-aside", reason: `reason ${i}` });
    expect(String((await line)[0])).toContain("set-aside");
    expect((await (await client()).call("status", {})).ok).toBe(true);
    healthy.destroy();
  });

  it("O5: a client that dies while its answer is on the way hurts nobody", async () => {
    const socket = connect(server.socketPath);
    socket.write(
      "POST /op/skills HTTP/1.1\r\nhost: d\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
    );
    socket.destroy();
    expect((await (await client()).call("skills", {})).ok).toBe(true);
  });

  it("have room for 32 listeners, and whoever leaves makes room", async () => {
    const listeners = await Promise.all(Array.from({ length: 32 }, listener));
    expect(await eventsStatus()).toBe(503);
    for (const socket of listeners) socket.destroy();
    // The daemon learns of it when its own end closes, a few turns of the loop later.
    while ((await eventsStatus()) !== 200);
  });

  it("are not piled up for a listener that never reads: it is cut", async () => {
    const slow = await listener();
    slow.pause();
    const cut = once(slow, "close");
    const reason = "x".repeat(65_536);
    for (let i = 0; i < 200; i += 1) fake.emit({ type: "set-aside", reason });
    slow.resume();
    await cut;
    expect((await (await client()).call("status", {})).ok).toBe(true);
  });
});

/** Repeats a poke at each turn of the loop until something came of it. */
async function until(
  ready: () => boolean,
  poke: () => void,
  done: Promise<unknown>,
): Promise<void> {
  const state = { settled: false };
  const mark = (): void => {
    state.settled = true;
  };
  done.then(mark, mark);
  while (!state.settled) {
    if (ready()) poke();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
