/** The embedded server through crashes, with real processes: nothing committed is lost, nothing blocks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { openDatabase, type Database } from "../../../src/relay/db/client.ts";
import { startEmbedded } from "../../../src/relay/db/embedded.ts";
import { createLog } from "../../../src/relay/log.ts";
import { startChild } from "../../support/child.ts";

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

describe("the embedded database, after a crash", { timeout: 60_000 }, () => {
  it("keeps every committed row through three kills, each restarted at once", async () => {
    const committed: string[] = [];
    for (let round = 0; round < 3; round++) {
      const child = startChild("test/relay/db/children/write-rows.ts", [dataDir]);
      const until = committed.length + 100;
      while (committed.length < until) committed.push(await child.nextLine());
      child.process.kill("SIGKILL");
      await child.ended;
    }
    const { sql } = await openHere();
    const rows = await sql<{ id: string }[]>`select id from used_id`;
    const found = new Set(rows.map(({ id }) => id));
    expect(committed.filter((id) => !found.has(id))).toEqual([]);
  });

  it("O10: refuses a second relay on the folder and names the first", async () => {
    const child = startChild("test/relay/db/children/write-rows.ts", [dataDir]);
    await child.nextLine();
    const second = await openDatabase({ dataDir, log });
    child.process.kill("SIGKILL");
    await child.ended;
    expect(second).toMatchObject({ ok: false, error: { type: "locked", holderPid: child.pid } });
    expect(second.ok ? "" : second.error.message).toContain("choose another data_dir");
    await openHere();
  });

  it("leaves a running server alone while somebody uses it, even without the lock", async () => {
    const { sql } = await openHere();
    await sql`select 1`;
    // What a container sees of a relay in another container on the same volume.
    rmSync(path.join(dataDir, "relay.lock"));
    const second = await startEmbedded({ dataDir, log });
    expect(second).toMatchObject({ ok: false, error: { type: "locked" } });
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  });

  it("starts its server again when that is killed", async () => {
    const server = await startEmbedded({ dataDir, log });
    if (!server.ok) throw new Error(server.error.message);
    const first = server.value.pid();
    process.kill(first ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(server.value.pid()).not.toBe(first), { timeout: 15_000 });
    await server.value.stop();
    await openHere();
  });
});
