/** Takes a folder lock when told to, says whether it got it, and keeps it until stdin ends. */
import { once } from "node:events";
import { writeSync } from "node:fs";

import { lockFolder } from "../../../../src/relay/db/folder-lock.ts";

writeSync(1, "waiting\n");
await once(process.stdin, "data");
const lock = lockFolder(process.argv[2] ?? "");
writeSync(1, lock.ok ? "held\n" : `locked by ${lock.error.holderPid}\n`);
process.stdin.resume();
await once(process.stdin, "end");
