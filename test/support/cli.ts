/**
 * The command line in this process: arguments in, exit code and both outputs out. Devices have no
 * hiding delays, keys never touch a real keyring, and every person at the terminal is scripted.
 */
import { createDevice } from "../../src/device/index.ts";
import type { OpenDevice } from "../../src/device/api/session.ts";
import type { CliIo } from "../../src/device/cli/io.ts";
import { runCli } from "../../src/device/cli/program.ts";
import { type Clock, systemClock } from "../../src/shared/clock.ts";
import { err, ok } from "../../src/shared/result.ts";
import { noDelays } from "./pair.ts";

/** How a run differs from a script without a terminal. */
export interface CliSetting {
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Answers of a person, in order; giving any makes the run interactive. */
  readonly answers?: readonly string[];
  /** What the editor leaves; gets the text that it was opened with. */
  readonly edit?: (text: string) => string;
  readonly files?: Readonly<Record<string, string>>;
  readonly openDevice?: OpenDevice;
  readonly clock?: Clock;
  readonly stopped?: Promise<void>;
  /** Sees the standard output as it is written. */
  readonly onOut?: (text: string) => void;
}

/** How a run ended. */
export interface CliRun {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
  readonly questions: readonly string[];
}

/** Opens devices as the product does, without delays that hide habits. */
const openWithoutDelays: OpenDevice = (options) => createDevice({ ...options, delays: noDelays });

/** Runs one command line. */
export async function cli(args: readonly string[], setting: CliSetting = {}): Promise<CliRun> {
  const written = { out: "", err: "" };
  const questions: string[] = [];
  const answers = [...(setting.answers ?? [])];
  const io: CliIo = {
    env: {
      PIXIE_KEYRING: "off",
      ...(setting.dataDir === undefined ? {} : { PIXIE_DATA_DIR: setting.dataDir }),
      ...setting.env,
    },
    hostName: "test-host",
    interactive: setting.answers !== undefined,
    outputIsTerminal: false,
    writeOut: (text) => {
      written.out += text;
      setting.onOut?.(text);
    },
    writeErr: (text) => {
      written.err += text;
    },
    readInput: () => Promise.resolve(setting.input ?? ""),
    readFile: (file) => {
      const content = setting.files?.[file];
      return content === undefined
        ? err({ type: "usage", message: `expected a readable file, got ${file}` })
        : ok(content);
    },
    ask: (question) => {
      questions.push(question);
      const answer = answers.shift();
      return answer === undefined
        ? Promise.reject(new Error(`nobody answers: ${question}`))
        : Promise.resolve(answer);
    },
    lines: async function* lines() {
      yield* setting.answers ?? (setting.input ?? "").split("\n").slice(0, -1);
    },
    edit: (text) => Promise.resolve(ok(setting.edit?.(text) ?? text)),
    byteBar: () => ({ update: () => undefined, stop: () => undefined }),
    stopped: () => setting.stopped ?? new Promise<void>(() => undefined),
  };
  const code = await runCli(args, {
    io,
    clock: setting.clock ?? systemClock,
    openDevice: setting.openDevice ?? openWithoutDelays,
  });
  return { code, ...written, questions };
}

/** Runs a command line with --json. Throws unless it ends with `code` and one JSON value. */
export async function cliJson(
  args: readonly string[],
  setting: CliSetting & { readonly code?: number } = {},
): Promise<unknown> {
  const run = await cli([...args, "--json"], setting);
  if (run.code !== (setting.code ?? 0)) {
    throw new Error(`${args.join(" ")} ended with ${run.code}: ${run.err}`);
  }
  return JSON.parse(run.out);
}
