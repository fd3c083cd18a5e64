/**
 * Opens the embedded database of a folder and commits rows until it is killed. A row's id is
 * printed after its commit, so every printed id has to be found afterwards.
 */
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";

import { openDatabase } from "../../../../src/relay/db/client.ts";
import { createLog } from "../../../../src/relay/log.ts";

const opened = await openDatabase({
  dataDir: process.argv[2] ?? "",
  log: createLog({ level: "warn" }),
});
if (!opened.ok) throw new Error(opened.error.message);
const { sql } = opened.value;

async function writeRows(): Promise<never> {
  for (;;) {
    const id = randomUUID();
    await sql`insert into used_id (id, kind) values (${id}, 'device')`;
    writeSync(1, `${id}\n`);
  }
}

// Several at once: the kill then falls into commits, not between them.
await Promise.all(Array.from({ length: 4 }, writeRows));
