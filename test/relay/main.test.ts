/** The relay as a process: its ready line, its exit codes, its words when it cannot start. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { uploadTo } from "../support/accounts.ts";
import { startChild, type Child } from "../support/child.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { connectDevice, postUpload, registerAccount } from "../support/relay.ts";

let dataDir = "";
let children: Child[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-main-"));
});
afterEach(async () => {
  for (const child of children) child.process.kill("SIGTERM");
  await Promise.all(children.map((child) => child.ended));
  children = [];
  rmSync(dataDir, { recursive: true, force: true });
});

function relay(words: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const child = startChild("test/relay/children/pixie-relay.ts", ["relay", ...words], env);
  children.push(child);
  return child;
}

interface Ready {
  readonly url: string;
  readonly port: number;
}

async function ready(child: Child): Promise<Ready & Readonly<Record<string, unknown>>> {
  const line: unknown = JSON.parse(await child.nextLine());
  if (typeof line === "object" && line !== null && "url" in line && "port" in line) {
    return { ...line, url: String(line.url), port: Number(line.port) };
  }
  throw new Error(`not a ready line: ${JSON.stringify(line)}`);
}

const start = (...more: readonly string[]): readonly string[] => [
  "start",
  "--data-dir",
  dataDir,
  "--port",
  "0",
  ...more,
];

/** A request that never ends, so that a drain has something to wait for. */
async function holdOpen(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write("POST /v1/envelopes HTTP/1.1\r\nHost: relay\r\n");
  socket.write(
    "Content-Type: application/octet-stream\r\nContent-Length: 4000\r\nExpect: 100-continue\r\n\r\n",
  );
  await once(socket, "data");
}

describe("pixie relay start", { timeout: 60_000 }, () => {
  it("starts with nothing configured, says so in one line, and O36: ends with 0 on SIGTERM", async () => {
    const child = relay(start());
    const line = await ready(child);
    expect(line).toMatchObject({
      ready: true,
      pid: child.pid,
      database: "embedded",
      version: "0.1.0",
    });
    expect(line.url).toBe(`http://127.0.0.1:${line.port}`);
    expect((await fetch(`${line.url}/health/live`)).status).toBe(200);
    expect(existsSync(path.join(dataDir, "postgres-18", "postmaster.pid"))).toBe(true);
    child.process.kill("SIGTERM");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(path.join(dataDir, "postgres-18", "postmaster.pid"))).toBe(false);
    expect(existsSync(path.join(dataDir, "relay.lock"))).toBe(false);
    expect(child.stderr()).not.toContain("npx pixie device init");
  });

  it("prints how to connect a device, answers health and info, and ends with 0 on SIGINT", async () => {
    const { url, drop } = await createTestDatabase("embedded", "template");
    const child = relay(start("--hints"), { DATABASE_URL: url });
    const line = await ready(child);
    expect(line).toMatchObject({ database: "external" });
    const port = String(line.port);
    const health = relay(["health", "--port", port]);
    const info = relay(["info", "--port", port]);
    expect(await health.ended).toEqual({ code: 0, signal: null });
    expect(JSON.parse(await info.nextLine())).toHaveProperty("epoch");
    child.process.kill("SIGINT");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.stderr()).toContain(`npx pixie device init --relay ${line.url} --name "Alice"`);
    await drop();
  });

  it("O3: an empty database is all it needs: it makes its tables, and a device gets through", async () => {
    const { url, drop } = await createTestDatabase("embedded", "empty");
    const child = relay(start(), { DATABASE_URL: url });
    const { url: at } = await ready(child);
    const address = { url: at, origin: at };
    const bob = await registerAccount(address, Date.now());
    const [phone] = bob.devices;
    const options = { origin: at, nowMs: Date.now() };
    const sent = await postUpload(address, uploadTo(bob, [phone!.mailbox], options));
    expect(sent.status).toBe(202);
    const connection = await connectDevice(address, phone!);
    expect(await connection.delivery()).toMatchObject({ seq: 1n });
    await connection.cut();
    child.process.kill("SIGTERM");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    await drop();
  });

  it.each(["localhost", "127.0.0.1", "0.0.0.0", "::", "::1"])(
    "O22: health asks where the relay listens, on host %s",
    async (host) => {
      const { url, drop } = await createTestDatabase("embedded", "template");
      const where = ["--host", host, "--registration", "open"];
      const child = relay(start(...where), { DATABASE_URL: url });
      const { port } = await ready(child);
      const health = relay(["health", ...where, "--port", String(port)]);
      expect([await health.ended, await health.nextLine()]).toEqual([
        { code: 0, signal: null },
        expect.stringContaining('"status":"ok"'),
      ]);
      child.process.kill("SIGTERM");
      await child.ended;
      await drop();
    },
  );

  it("ends at once on a second signal", async () => {
    const { url, drop } = await createTestDatabase("embedded", "template");
    const child = relay(start("--drain-ms", "600000"), { DATABASE_URL: url });
    await holdOpen((await ready(child)).port);
    child.process.kill("SIGTERM");
    await stderrLine(child, '"msg":"stopping"');
    child.process.kill("SIGINT");
    expect(await child.ended).toEqual({ code: 130, signal: null });
    await drop();
  });

  it("R41: cuts a drain short when it takes longer than it may", async () => {
    const { url, drop } = await createTestDatabase("embedded", "template");
    const child = relay(start("--drain-ms", "50"), { DATABASE_URL: url });
    await holdOpen((await ready(child)).port);
    child.process.kill("SIGTERM");
    expect(await child.ended).toEqual({ code: 4, signal: null });
    await drop();
  });

  it("O18: names the port that is in use", async () => {
    const { url, drop } = await createTestDatabase("embedded", "template");
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const child = relay(["start", "--port", String(port)], { DATABASE_URL: url });
    expect(await child.ended).toEqual({ code: 3, signal: null });
    other.close();
    expect(child.stderr()).toMatch(new RegExp(`pixie relay: .*\\b${port}\\b`));
    await drop();
  });

  it("says that DATABASE_URL is wrong, without its password, and never falls back", async () => {
    const child = relay(start(), { DATABASE_URL: "postgres://relay:hunter2@127.0.0.1:1/pixie" });
    expect(await child.ended).toEqual({ code: 3, signal: null });
    expect(child.stderr()).toMatch(
      /pixie relay: cannot reach the database: .*ECONNREFUSED.*DATABASE_URL/,
    );
    expect(child.stderr()).not.toContain("hunter2");
    expect(existsSync(path.join(dataDir, "postgres-18"))).toBe(false);
  });

  it("refuses a wrong configuration with a code of its own, all problems at once", async () => {
    const child = relay(start("--host", "0.0.0.0", "--log-level", "loud"));
    expect(await child.ended).toEqual({ code: 2, signal: null });
    expect(child.stderr()).toMatch(/registration = "open"/);
    expect(child.stderr()).toMatch(/flag --log-level: expected one of silent/);
  });
});

describe("the other commands", { timeout: 60_000 }, () => {
  it("migrate says what it did, and does nothing the second time", async () => {
    const { url, drop } = await createTestDatabase("embedded", "empty");
    for (const applied of [3, 0]) {
      const child = relay(["migrate"], { DATABASE_URL: url, PIXIE_RELAY_LOG_LEVEL: "silent" });
      expect(JSON.parse(await child.nextLine())).toMatchObject({
        database: "external",
        applied,
        version: 3,
      });
      expect(await child.ended).toEqual({ code: 0, signal: null });
    }
    await drop();
  });

  it("health says where no relay answers", async () => {
    const none = relay(["health", "--host", "0.0.0.0", "--registration", "open", "--port", "1"]);
    expect(await none.ended).toEqual({ code: 3, signal: null });
    expect(none.stderr()).toMatch(
      /no relay answers at http:\/\/127\.0\.0\.1:1\/health\/ready \((?!fetch failed).+\): start it/,
    );
  });

  it("config dump shows origins and masks secrets", async () => {
    const child = relay(["config", "dump", "--port", "1"], {
      DATABASE_URL: "postgres://u:hunter2@db/x",
    });
    let line = await child.nextLine();
    const dump = [line];
    while (!line.startsWith("log_level")) dump.push((line = await child.nextLine()));
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(dump).toContain("port = 1  # flag --port");
    expect(dump).toContain('database_url = "***"  # env DATABASE_URL');
  });

  it("config check ends with 2 and the problems, or with 0", async () => {
    const wrong = relay(["config", "check", "--port", "many"]);
    expect(await wrong.ended).toEqual({ code: 2, signal: null });
    const right = relay(["config", "check"]);
    expect(await right.ended).toEqual({ code: 0, signal: null });
  });
});

function stderrLine(child: Child, text: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!child.stderr().includes(text)) return;
      child.process.stderr.off("data", look);
      resolve();
    };
    child.process.stderr.on("data", look);
    look();
  });
}
