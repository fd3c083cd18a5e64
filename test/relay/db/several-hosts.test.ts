/** A database of several hosts, of which one is the primary. Failing over is `npm run failover`. */
import { expect, it } from "vitest";

import { loadRelayConfig } from "../../../src/relay/config.ts";
import { openDatabase } from "../../../src/relay/db/client.ts";
import { createLog } from "../../../src/relay/log.ts";
import { createTestDatabase } from "../../support/postgres.ts";

it("is opened whichever host answers, with every host named in one URL", async () => {
  const { url, drop } = await createTestDatabase("embedded", "template");
  const { host, pathname } = new URL(url);
  // Nothing listens on port 1.
  const hosts = `127.0.0.1:1,${host}`;
  const written = `postgres://pixie@${hosts}${pathname}?target_session_attrs=primary`;
  const loaded = loadRelayConfig({ flags: { database_url: written }, env: {} });
  if (!loaded.ok) throw new Error(loaded.error.problems.join());
  const log = createLog({ level: "silent" });
  const opened = await openDatabase({ ...loaded.value.config, log });
  if (!opened.ok) throw new Error(opened.error.message);
  expect(await opened.value.sql`select pg_is_in_recovery() as standby`).toEqual([
    { standby: false },
  ]);
  await opened.value.close();
  await drop();
});

it("is refused when none answers, which the driver alone never says", async () => {
  const databaseUrl =
    "postgres://pixie:hunter2@127.0.0.1:1,127.0.0.1:2/pixie?target_session_attrs=primary";
  const log = createLog({ level: "silent" });
  const opened = await openDatabase({ databaseUrl, dataDir: "", log });
  expect(opened).toMatchObject({ ok: false, error: { type: "unreachable" } });
  expect(JSON.stringify(opened)).not.toContain("hunter2");
}, 60_000);
