/**
 * `tsx scripts/walls.ts`: the import walls of src, as `npm run lint` runs them.
 *
 * Prints one line per finding and exits 1 when there is any. The table is walls/rooms.ts, the
 * rules are walls/check.ts. Works on the folder that it is started in.
 */
import { checkWalls } from "./walls/check.ts";

const findings = checkWalls(process.cwd());
for (const { file, line, text } of findings) process.stderr.write(`${file}:${line}: ${text}\n`);
process.stdout.write(`walls: ${findings.length} finding${findings.length === 1 ? "" : "s"}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
