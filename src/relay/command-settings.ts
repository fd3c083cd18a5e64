/**
 * What every `pixie relay` command shares: each setting as a flag, the configuration that comes of it,
 * and how a failure is told.
 */
import type { Command } from "commander";

import { settings } from "./config-settings.ts";
import { loadRelayConfig, type LoadedConfig } from "./config.ts";
import { exitCodes } from "./exit-codes.ts";

/** Adds a command that needs the configuration and nothing else. */
export function addCommand(
  parent: Command,
  name: string,
  about: string,
  run: (loaded: LoadedConfig) => void | Promise<void>,
): void {
  const command = withSettings(parent.command(name).description(about));
  command.action(async () => {
    const loaded = load(command.opts<Readonly<Record<string, unknown>>>());
    if (loaded !== undefined) await run(loaded);
  });
}

/** Adds every setting as a flag. */
export function withSettings(command: Command): Command {
  command.option("--config <file>", "TOML file with settings ($PIXIE_RELAY_CONFIG)");
  for (const { name, about } of settings) {
    command.option(`--${name.replaceAll("_", "-")} <value>`, about);
  }
  return command;
}

/** The configuration, or undefined once its problems are printed and the exit code is set. */
export function load(options: Readonly<Record<string, unknown>>): LoadedConfig | undefined {
  const { config: file, ...given } = options;
  // commander turns --data-dir into dataDir; the table knows data_dir.
  const flags = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
  const loaded = loadRelayConfig({
    flags,
    env: process.env,
    file: typeof file === "string" ? file : undefined,
  });
  if (loaded.ok) return loaded.value;
  for (const problem of loaded.error.problems) fail(problem, exitCodes.config);
  return undefined;
}

/** Tells a failure on stderr and sets the exit code. */
export function fail(message: string, code: number): void {
  process.stderr.write(`pixie relay: ${message}\n`);
  process.exitCode = code;
}
