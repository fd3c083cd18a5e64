#!/usr/bin/env node
/**
 * `pixie`: joins the relay's and the device's commands into one program, and ends the process with
 * the code of the command that ran. Everything else is in the two.
 */
import { runCli, systemWorld } from "./device/cli/program.ts";
import { registerRelayCommands } from "./relay/cli.ts";

// A reader that went away (`pixie read | head`) ends no command, and least of all a daemon (O5): the
// work goes on, only nobody reads about it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (cause) => {
    if (!("code" in cause) || cause.code !== "EPIPE") throw cause;
  });
}
// Timers of the device do not keep a process alive, and an unanswered relay leaves nothing else.
const alive = setInterval(() => undefined, 60_000);
try {
  const code = await runCli(process.argv.slice(2), systemWorld(), registerRelayCommands);
  if (code !== undefined) process.exitCode = code;
} catch (cause) {
  process.stderr.write(
    `pixie: unexpected failure: ${cause instanceof Error ? cause.stack : String(cause)}\n`,
  );
  process.exitCode = 1;
} finally {
  clearInterval(alive);
}
