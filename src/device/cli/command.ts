/**
 * The form that every device command has: its flags, how it ends, and where its words go. Data goes
 * to the standard output (one JSON value with --json), everything else to the error output.
 *
 * Commands answer with an outcome and never print or exit by themselves.
 * Spec: docs/operating.md "Command line".
 */
import type { Command } from "commander";

import type { Clock } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { type OpenDevice, openSession, type Session, type SessionParts } from "../api/session.ts";
import { loadDeviceConfig } from "../config.ts";
import type { DeviceError } from "../device.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { visibleJson, visibleLine } from "./visible.ts";

/** What the commands are made with. */
export interface CliParts {
  readonly io: CliIo;
  readonly clock: Clock;
  readonly openDevice: OpenDevice;
  /** Receives how the command ended. */
  readonly onExit: (code: ExitCode) => void;
}

/** What a command has to say when it went well. Lines are safe to print. */
export interface Output {
  readonly json: unknown;
  readonly lines: readonly string[];
  /** Remarks for a person, on the error output. */
  readonly notes?: readonly string[];
  /** Success with a reservation, e.g. kept but not sent yet. */
  readonly exitCode?: ExitCode;
}

/** How a command ends. */
export type Outcome = Result<Output, DeviceError>;

/** One run of a command. */
export interface Invocation {
  readonly io: CliIo;
  readonly clock: Clock;
  readonly args: readonly string[];
  readonly argument: (index: number) => string | undefined;
  readonly text: (option: string) => string | undefined;
  readonly flag: (option: string) => boolean;
  readonly list: (option: string) => readonly string[];
  readonly sessionParts: SessionParts;
  /** Works on a session and closes it. `connect`: catch up with the relay first. */
  readonly withSession: (
    need: { readonly connect: boolean },
    work: (session: Session) => Promise<Outcome>,
  ) => Promise<Outcome>;
  /** Says something while the command goes on: one JSON line, or lines for a person. */
  readonly progress: (json: unknown, lines: readonly string[]) => void;
  readonly note: (line: string) => void;
}

/** A command to add. */
export interface CommandSpec {
  /** As commander writes it: `send <contact> [text]`. */
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly string[];
  readonly options?: readonly (readonly [flags: string, about: string])[];
  readonly run: (invocation: Invocation) => Promise<Outcome>;
}

/** Adds a command with the flags that all share. */
export function addCommand(parent: Command, parts: CliParts, spec: CommandSpec): void {
  const command = parent
    .command(spec.usage)
    .description(spec.about)
    .option("--json", "data as JSON on the standard output")
    .option("--data-dir <folder>", "folder of the device ($PIXIE_DATA_DIR)")
    .addHelpText("before", exampleText(spec.examples));
  for (const [flags, about] of spec.options ?? []) {
    if (flags.endsWith("...")) command.option(flags.slice(0, -3), about, collect);
    else command.option(flags, about);
  }
  command.action(async () => {
    const options = command.opts<Readonly<Record<string, unknown>>>();
    const json = options["json"] === true;
    const built = invocationOf({ parts, options, args: command.args, json });
    parts.onExit(report(parts.io, json, built.ok ? await spec.run(built.value) : built));
  });
}

/** A usage error. */
export function usage(message: string): {
  readonly ok: false;
  readonly error: DeviceError;
} {
  return err({ type: "usage", message });
}

/** Examples as help opens with them. */
export function exampleText(examples: readonly string[]): string {
  return `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}\n`;
}

interface Raw {
  readonly parts: CliParts;
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  readonly json: boolean;
}

function invocationOf({ parts, options, args, json }: Raw): Result<Invocation, DeviceError> {
  const { io, clock, openDevice } = parts;
  const text = (option: string): string | undefined => {
    const value = options[option];
    return typeof value === "string" ? value : undefined;
  };
  const config = loadDeviceConfig({ dataDir: text("dataDir"), env: io.env });
  if (!config.ok) return config;
  const note = (line: string): void => io.writeErr(`${visibleLine(line)}\n`);
  const sessionParts = { openDevice, clock, config: config.value, onNotice: note };
  return ok({
    io,
    clock,
    args,
    argument: (index) => args[index],
    text,
    flag: (option) => options[option] === true,
    list: (option) => listOf(options[option]),
    sessionParts,
    withSession: async (need, work) => {
      const opened = await openSession(sessionParts, need);
      if (!opened.ok) return opened;
      await using session = opened.value;
      return await work(session);
    },
    progress: (value, lines) => {
      if (json) writeJson(io, value);
      else for (const line of lines) io.writeOut(`${line}\n`);
    },
    note,
  });
}

function report(io: CliIo, json: boolean, outcome: Outcome): ExitCode {
  if (!outcome.ok) {
    const { type, message } = outcome.error;
    const failure = { error: { type, message } };
    io.writeErr(
      json ? `${visibleJson(JSON.stringify(failure))}\n` : `pixie: ${visibleLine(message)}\n`,
    );
    return exitCodeOf(type);
  }
  const { json: value, lines, notes = [], exitCode = exitCodes.ok } = outcome.value;
  for (const note of notes) io.writeErr(`${visibleLine(note)}\n`);
  if (json) writeJson(io, value);
  else for (const line of lines) io.writeOut(`${line}\n`);
  return exitCode;
}

function writeJson(io: CliIo, value: unknown): void {
  io.writeOut(`${visibleJson(JSON.stringify(value))}\n`);
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function collect(value: string, previous: unknown): readonly string[] {
  return [...listOf(previous), value];
}
