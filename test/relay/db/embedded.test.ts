/** The embedded server on disk: what a folder may hold before and after, and who may look at it. */
import { spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openDatabase, type Database } from "../../../src/relay/db/client.ts";
import { clusterFolder } from "../../../src/relay/db/cluster.ts";
import { serverUser } from "../../../src/relay/db/embedded-user.ts";
import { startEmbedded } from "../../../src/relay/db/embedded.ts";
import { createLog } from "../../../src/relay/log.ts";

const log = createLog({ level: "silent" });

let dataDir = "";
let open: Database[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "pixie-embedded-"));
});
afterEach(async () => {
  for (const database of open) await database.close();
  open = [];
  rmSync(dataDir, { recursive: true, force: true });
});

async function openHere(): Promise<Database> {
  const opened = await openDatabase({ dataDir, log });
  if (!opened.ok) throw new Error(opened.error.message);
  open.push(opened.value);
  return opened.value;
}

describe("the embedded database", { timeout: 60_000 }, () => {
  it("starts after an initdb that was cut short", async () => {
    const unfinished = `${clusterFolder(dataDir)}.unfinished`;
    mkdirSync(path.join(unfinished, "base"), { recursive: true });
    writeFileSync(path.join(unfinished, "PG_VERSION"), "18\n");
    const { sql } = await openHere();
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    expect(existsSync(unfinished)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "starts although another program has the old server's pid",
    async () => {
      await (await openHere()).close();
      const user = serverUser(clusterFolder(dataDir));
      const other = spawn("sleep", ["60"], { ...(user.ok ? user.value : {}), cwd: "/" });
      const pidFile = path.join(clusterFolder(dataDir), "postmaster.pid");
      writeFileSync(
        pidFile,
        `${other.pid}\n${clusterFolder(dataDir)}\n1700000000\n5432\n/nowhere\n\n  0 0\nready   \n`,
      );
      if (user.ok && user.value !== undefined) chownSync(pidFile, user.value.uid, user.value.gid);
      try {
        const { sql } = await openHere();
        expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
      } finally {
        other.kill("SIGKILL");
      }
    },
  );

  it("keeps its socket short and private when the folder's path is long", async () => {
    const long = `${dataDir}${"x".repeat(100)}`;
    const server = await startEmbedded({ dataDir: long, log });
    if (!server.ok) throw new Error(server.error.message);
    const { socketFolder } = server.value;
    try {
      expect(socketFolder.startsWith(path.join(tmpdir(), "pixie-"))).toBe(true);
      expect(socketFolder.length).toBeLessThan(80);
      expect(statSync(socketFolder).mode & 0o777).toBe(0o700);
    } finally {
      await server.value.stop();
      rmSync(long, { recursive: true });
    }
    expect(existsSync(socketFolder)).toBe(false);
  });

  it("puts nothing into the folder that others can read", async () => {
    await openHere();
    expect(statSync(dataDir).mode & 0o066).toBe(0);
    const modes = readdirSync(dataDir).map(
      (name) => lstatSync(path.join(dataDir, name)).mode & 0o077,
    );
    expect(modes).toEqual([0, 0, 0]);
  });

  it("refuses a folder that belongs to somebody else, by owner", async () => {
    const foreign = await openDatabase({
      dataDir: process.getuid?.() === 0 ? foreignFolder() : "/",
      log,
    });
    expect(foreign).toMatchObject({ ok: false, error: { type: "data-folder" } });
    expect(foreign.ok ? "" : foreign.error.message).toMatch(
      /belongs to uid \d+ and the relay runs as uid \d+/,
    );
  });

  it("refuses a cluster of another major version", async () => {
    mkdirSync(clusterFolder(dataDir));
    writeFileSync(path.join(clusterFolder(dataDir), "PG_VERSION"), "17\n");
    const refused = await openDatabase({ dataDir, log });
    expect(refused.ok ? "" : refused.error.message).toContain("holds a cluster of 17, expected 18");
  });
});

function foreignFolder(): string {
  chownSync(dataDir, 65_534, 65_534);
  return dataDir;
}
