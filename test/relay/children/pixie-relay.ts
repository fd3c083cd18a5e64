/** `pixie relay …` as a program of its own, without the device's commands. */
import { Command } from "commander";

import { registerRelayCommands } from "../../../src/relay/cli.ts";

const program = new Command("pixie");
registerRelayCommands(program);
await program.parseAsync(process.argv);
