/**
 * nginx and Caddy with the files that are shipped, before a real relay; a real device goes through them
 * (`doctor --public`), and each fault that a proxy is given is named with the line that cures it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../src/relay/index.ts";
import { startChild } from "../support/child.ts";
import { openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { startRelay } from "../support/relay.ts";
import { findTool } from "../support/tools.ts";

type Rewrite = (text: string) => string;

let folder = "";
let db: TestDatabase;
let relay: Relay;
let port = 0;
let publicUrl = "";

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-proxy-"));
  makeCertificate();
  port = await freePort();
  publicUrl = `https://127.0.0.1:${port}`;
  db = await openTestDatabase();
  const config = { publicUrl, trustedProxies: ["127.0.0.1/32"] };
  relay = await startRelay({ databaseUrl: db.url, config });
});
afterAll(async () => {
  await relay.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const certificate = (): string => path.join(folder, "cert.pem");
const key = (): string => path.join(folder, "key.pem");

function makeCertificate(): void {
  const request =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30".split(" ");
  const files = ["-keyout", key(), "-out", certificate()];
  const name = ["-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1"];
  const openssl = findTool("openssl");
  if (openssl !== undefined) execFileSync(openssl, [...request, ...files, ...name]);
}

/** What the doctor says, and how it ends, through whatever listens at the public URL. */
async function doctor(): Promise<{ readonly code: number | null; readonly said: string }> {
  const url = new URL(relay.url);
  const flags = `--data-dir ${folder} --port ${url.port} --admin-port ${new URL(relay.adminUrl).port}`;
  const words = `relay doctor --public ${publicUrl} --idle-seconds 2 ${flags}`.split(" ");
  const env = { DATABASE_URL: db.url, NODE_EXTRA_CA_CERTS: certificate() };
  const child = startChild("test/relay/children/pixie-relay.ts", words, env);
  let said = "";
  child.process.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const { code } = await child.ended;
  // This relay is a test and not `pixie relay start`: its ports are held by a stranger, and the test
  // cluster is made to be thrown away.
  return { code, said: said.replaceAll(/^FAIL {2}(port|admin_port|fsync): .*\n.*\n/gm, "") };
}

async function through(proxy: ChildProcess): Promise<string> {
  try {
    await listening(proxy);
    return (await doctor()).said;
  } finally {
    const ended = once(proxy, "exit");
    proxy.kill("SIGTERM");
    await ended;
  }
}

function startNginx(program: string, rewrite: Rewrite): ChildProcess {
  const site = readFileSync("deploy/nginx/pixie-relay.conf", "utf8")
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
    .replace("listen [::]:443 ssl;", "")
    .replace(/ssl_certificate .*/, `ssl_certificate ${certificate()};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${key()};`)
    .replace("127.0.0.1:7470", `127.0.0.1:${relay.port}`);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join("\n");
  const file = path.join(folder, "nginx.conf");
  const whole = `daemon off; worker_processes 1; user root; pid ${folder}/nginx.pid;\nerror_log ${folder}/nginx.log;
    events {}\nhttp { ${paths}\n${rewrite(site)} }`;
  writeFileSync(file, process.getuid?.() === 0 ? whole : whole.replace("user root;", ""));
  return spawn(program, ["-p", folder, "-c", file, "-e", `${folder}/nginx.log`], {
    stdio: "ignore",
  });
}

function startCaddy(program: string, rewrite: Rewrite): ChildProcess {
  const site = readFileSync("deploy/caddy/Caddyfile", "utf8")
    .replace("relay.example.org {", `${publicUrl} {\n\ttls ${certificate()} ${key()}`)
    .replace("127.0.0.1:7470", `127.0.0.1:${relay.port}`);
  const file = path.join(folder, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${rewrite(site)}`);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn(program, ["run", "--config", file, "--adapter", "caddyfile"], {
    stdio: "ignore",
    env,
  });
}

async function throughNginx(rewrite: Rewrite): Promise<string | undefined> {
  const program = findTool("nginx");
  return program === undefined ? undefined : through(startNginx(program, rewrite));
}

async function throughCaddy(rewrite: Rewrite): Promise<string | undefined> {
  const program = findTool("caddy");
  return program === undefined ? undefined : through(startCaddy(program, rewrite));
}

/** What is said through nginx with a line changed; nothing where there is no nginx. */
const fault = async (from: string | RegExp, to: string): Promise<string> =>
  (await throughNginx((site) => {
    const planted = site.replace(from, to);
    if (planted === site) throw new Error(`nothing was planted for ${String(from)}`);
    return planted;
  })) ?? "";

/** Waits until the proxy takes connections; fails when it ends before that. */
async function listening(proxy: ChildProcess): Promise<void> {
  for (;;) {
    if (proxy.exitCode !== null) throw new Error(`the proxy ended with ${proxy.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const open = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const whole = [
  "IPv4: answers",
  "TLS: valid for 29 days",
  `public_url: https://127.0.0.1`,
  "ownership: it is the relay of this machine",
  "client address: 127.0.0.77, as it is",
  "connection: a device connected",
  "body limit: an upload of",
  "delivery: it came back",
  "idle: the connection was quiet for 2 s and lives",
];

describe("nginx", { timeout: 60_000 }, () => {
  it("lets a device through with the file that is shipped", async () => {
    const said = await throughNginx((site) => site);
    if (said === undefined) return;
    for (const line of whole) expect(said).toContain(line);
    expect(said).not.toContain("FAIL");
  });

  it("O12: without the upgrade lines they are named, exactly", async () => {
    const said = await fault(/proxy_set_header Upgrade .*\n/, "");
    if (said === "") return;
    expect(said).toContain("FAIL  connection: the upgrade to WebSocket failed");
    expect(said).toContain("in nginx:\n       proxy_http_version 1.1;");
    expect(said).toContain("proxy_set_header Upgrade $http_upgrade;");
  });

  it("O13: a short read timeout is found and named", async () => {
    const said = await fault("proxy_read_timeout 1h;", "proxy_read_timeout 1s;");
    if (said === "") return;
    expect(said).toMatch(/FAIL {2}idle: a quiet connection was cut after [12] s/);
    expect(said).toContain("proxy_read_timeout 1h;");
  });

  it("O24: a small body limit is found and named", async () => {
    const said = await fault("client_max_body_size 1m;", "client_max_body_size 100k;");
    if (said === "") return;
    expect(said).toMatch(/FAIL {2}body limit: an upload of 26\d kB is cut off/);
    expect(said).toContain("client_max_body_size 1m;");
  });

  it("a proxy that hides the client, and one that passes on what a client claims, are told apart", async () => {
    const hidden = await fault(
      /proxy_set_header X-Forwarded-For .*\n/,
      'proxy_set_header X-Forwarded-For "";\n',
    );
    const claimed = await fault("$proxy_add_x_forwarded_for", "$http_x_forwarded_for");
    if (hidden === "") return;
    expect(hidden).toContain("FAIL  client address: every client looks like 127.0.0.1");
    expect(claimed).toContain("FAIL  client address: the relay believes any address");
    expect(claimed).toContain("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;");
  });
});

describe("Caddy", { timeout: 60_000 }, () => {
  it("lets a device through with the file that is shipped", async () => {
    const said = await throughCaddy((site) => site);
    if (said === undefined) return;
    for (const line of whole) expect(said).toContain(line);
    expect(said).not.toContain("FAIL");
  });

  it("O24: a small body limit is found and named", async () => {
    const said = await throughCaddy((site) => site.replace("max_size 1MB", "max_size 100KB"));
    if (said === undefined) return;
    expect(said).toContain("FAIL  body limit");
    expect(said).toContain("in caddy:\n       request_body { max_size 1MB }");
  });
});

it("a relay that nobody reaches is said, with what to look at", async () => {
  const { code, said } = await doctor();
  expect(code).toBe(5);
  expect(said).toMatch(/FAIL {2}reachable: .*ECONNREFUSED/);
}, 60_000);
