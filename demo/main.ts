/**
 * `npm run demo`: two people with three devices share a skill through a relay, while the relay is
 * killed and restarted in the middle. Everything is real: processes, sockets, databases, keys. Exits
 * 0 only if every expectation held.
 *
 * Options: `--json` for one JSON object per line.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ExpectationError, Narrator } from "./narrator.ts";
import { tellStory } from "./story.ts";

const narrator = new Narrator(process.argv.includes("--json"), (text) =>
  process.stdout.write(text),
);
const folder = await mkdtemp(path.join(tmpdir(), "pixie-demo-"));
// Started as root, the database runs as another user, who must be able to reach its folder.
await chmod(folder, 0o755);
try {
  await tellStory(narrator, folder);
  narrator.end(true);
} catch (error) {
  const reason = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(
    reason instanceof ExpectationError
      ? `expected: ${reason.message}\n`
      : `${reason.stack ?? reason.message}\n`,
  );
  narrator.end(false);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
