/** `pixie` as a process: what only a real one shows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Relay } from "../../../src/relay/index.ts";
import { openTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { startRelay } from "../../support/relay.ts";

const program = fileURLToPath(new URL("../../../src/cli.ts", import.meta.url));

let dataDir: string;
let database: TestDatabase;
let relay: Relay;
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-process-"));
  database = await openTestDatabase();
  relay = await startRelay({ databaseUrl: database.url });
});
afterAll(async () => {
  await relay.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

function pixie(...args: readonly string[]): ReturnType<typeof spawn> {
  return spawn(process.execPath, ["--import", "tsx", program, ...args], {
    env: { ...process.env, PIXIE_KEYRING: "off", PIXIE_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function ended(child: ReturnType<typeof spawn>): Promise<{
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("no pipes");
  const [[code], out, err] = await Promise.all([once(child, "close"), text(stdout), text(stderr)]);
  return { code, out, err };
}

describe("pixie", () => {
  it("is one program for relay and device", async () => {
    const help = await ended(pixie("--help"));
    expect(help).toMatchObject({ code: 0, err: "" });
    expect(help.out).toMatch(/ relay .*\n[\s\S]* device /);
  });

  it("O33: registers, runs as a daemon, is used through it and stops at SIGTERM, without a terminal", async () => {
    const made = await ended(
      pixie("device", "init", "--relay", relay.url, "--name", "Ada", "--json"),
    );
    expect(made.code).toBe(0);
    expect(made.err).toContain("NOTICE: the key of this device's store lies in");

    const daemon = pixie("device", "run", "--json");
    const gone = once(daemon, "close");
    const { stdout, stderr } = daemon;
    if (stdout === null || stderr === null) throw new Error("no pipes");
    const complaints = text(stderr);
    const [line] = await once(stdout, "data");
    expect(JSON.parse(String(line).split("\n")[0] ?? "")).toMatchObject({
      ready: true,
      pid: daemon.pid,
    });

    // O5: nobody reads the daemon's events any more, and a client leaves in the middle of its answer.
    stdout.destroy();
    const reader = pixie("skill", "advertise", "fetch-file", "--json");
    reader.stdout?.destroy();
    expect((await once(reader, "close"))[0]).toBe(0);

    const status = await ended(pixie("device", "status", "--json"));
    expect(JSON.parse(status.out)).toMatchObject({ daemonPid: daemon.pid });
    daemon.kill("SIGTERM");
    expect((await gone)[0]).toBe(0);
    expect(await complaints).toBe("");
  }, 120_000);
});
