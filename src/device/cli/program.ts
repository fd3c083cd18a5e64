/**
 * The command line as a whole: one program, its help, and how a run ends. The relay's commands are
 * added by whoever composes both (cli.ts); they report their own exit code.
 *
 * Spec: docs/operating.md "Command line".
 */
import { Command, CommanderError } from "commander";

import { systemClock } from "../../shared/clock.ts";
import { softwareVersion } from "../../shared/wire/version.ts";
import { openDevice } from "../main.ts";
import { registerAgentCommands } from "./agent-commands.ts";
import { registerAlignGroup } from "./align-commands.ts";
import { registerApprovalsGroup } from "./approval-commands.ts";
import { type CliParts, exampleText } from "./command.ts";
import { registerContactGroup } from "./contact-commands.ts";
import {
  registerCalendarGroup,
  registerContextGroup,
  registerDateCommand,
} from "./context-commands.ts";
import { registerDeviceGroup } from "./device-commands.ts";
import { type ExitCode, exitCodeHelp, exitCodes } from "./exit-codes.ts";
import { registerFilesGroup } from "./files-commands.ts";
import { registerHomebaseGroup } from "./homebase-commands.ts";
import { systemIo } from "./io.ts";
import { registerMcpGroup } from "./mcp-commands.ts";
import { registerMessageCommands } from "./message-commands.ts";
import { registerModelGroup } from "./model-commands.ts";
import { registerMemoryGroup, registerNotebookGroup } from "./notebook-commands.ts";
import { registerSkillGroup } from "./skill-commands.ts";

/** Parts of a run that tests replace. */
export type CliWorld = Omit<CliParts, "onExit">;

/** The real world. */
export function systemWorld(): CliWorld {
  return { io: systemIo(), clock: systemClock, openDevice };
}

const examples = [
  "pixie relay start",
  "pixie device init --relay http://127.0.0.1:7470 --name Alice",
  "pixie device run",
  "pixie contact invite",
  'pixie send Bob "see you at six"',
  "pixie skill share search-info Bob",
  'pixie ask "what is on this weekend?"',
];

/**
 * Runs one command line. Returns its exit code; `undefined` when a command of another program has
 * set the process's own.
 */
export async function runCli(
  args: readonly string[],
  world: CliWorld,
  addOthers: (program: Command) => void = () => undefined,
): Promise<ExitCode | undefined> {
  const ended: { code?: ExitCode } = {};
  const program = new Command("pixie")
    .description("A private messenger for people, their devices and the skills they share.")
    .version(softwareVersion, "--version", "print the version")
    .addHelpText("before", exampleText(examples))
    .addHelpText("after", `\n${exitCodeHelp}`)
    .exitOverride()
    .configureOutput({ writeOut: world.io.writeOut, writeErr: world.io.writeErr });
  addOthers(program);
  const parts: CliParts = { ...world, onExit: (code) => (ended.code = code) };
  registerDeviceGroup(program, parts);
  registerContactGroup(program, parts);
  registerMessageCommands(program, parts);
  registerSkillGroup(program, parts);
  registerAgentCommands(program, parts);
  registerAlignGroup(program, parts);
  registerApprovalsGroup(program, parts);
  registerMcpGroup(program, parts);
  registerModelGroup(program, parts);
  registerHomebaseGroup(program, parts);
  registerNotebookGroup(program, parts);
  registerMemoryGroup(program, parts);
  registerCalendarGroup(program, parts);
  registerFilesGroup(program, parts);
  registerContextGroup(program, parts);
  registerDateCommand(program, parts);
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    return cause.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return ended.code;
}
