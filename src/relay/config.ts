/**
 * Puts the relay's configuration together: TOML file < environment < flags, each value parsed once
 * and remembered with its origin. Unknown names are refused, all problems at once.
 *
 * Reads the config file and `*_file` secrets, nothing else; what the settings are is
 * config-settings.ts. Spec: docs/operating.md "Configuration".
 */
import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";

import { parse as parseToml } from "smol-toml";

import { err, ok, type Result } from "../shared/result.ts";
import { defaultConfig, settings, type RelayConfig, type Setting } from "./config-settings.ts";

export type { RelayConfig } from "./config-settings.ts";

/** Where a value came from: `file data_dir`, `env DATABASE_URL`, `flag --port`; absent: the default. */
export type ConfigOrigins = Readonly<Partial<Record<keyof RelayConfig, string>>>;

/** Everything that is wrong with the configuration, one text each, without secret values. */
export interface ConfigError {
  readonly type: "config";
  readonly problems: readonly string[];
}

/** The sources. Flags are named as in the file (`data_dir`); an undefined one was not given. */
export interface ConfigSources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the TOML file; $PIXIE_RELAY_CONFIG otherwise; none without either. */
  readonly file?: string | undefined;
}

/** A loaded configuration. */
export interface LoadedConfig {
  readonly config: RelayConfig;
  readonly origins: ConfigOrigins;
}

interface Written {
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: string;
}

const envPrefix = "PIXIE_RELAY_";
const fileVariable = `${envPrefix}CONFIG`;

/** Loads and checks the configuration. Errors: every problem found, not only the first. */
export function loadRelayConfig(sources: ConfigSources): Result<LoadedConfig, ConfigError> {
  const problems: string[] = [];
  const written = [
    ...fromFile(sources.file ?? sources.env[fileVariable], problems),
    ...fromEnvironment(sources.env, problems),
    ...fromFlags(sources.flags, problems),
  ];
  let config = defaultConfig;
  const origins: Partial<Record<keyof RelayConfig, string>> = {};
  // In order of the sources: a later one wins, and a wrong value is told even where it would lose.
  for (const { setting, value, origin } of written) {
    const next = setting.write(config, value);
    if (next.ok) {
      config = next.value;
      origins[setting.field] = origin;
    } else {
      problems.push(`${origin}: expected ${next.error.expected}, got ${shown(setting, value)}`);
    }
  }
  problems.push(...exposureProblems(config, origins));
  return problems.length > 0 ? err({ type: "config", problems }) : ok({ config, origins });
}

/** The configuration as a TOML file with the origin of every value. Secrets are masked. */
export function dumpRelayConfig({ config, origins }: LoadedConfig): string {
  return settings
    .map((setting) => {
      const value = config[setting.field];
      const line =
        value === undefined
          ? `# ${setting.name} =`
          : `${setting.name} = ${tomlValue(setting, value)}`;
      return `${line}  # ${origins[setting.field] ?? "default"}\n`;
    })
    .join("");
}

/** Whether only programs on this machine can connect to that address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function exposureProblems(config: RelayConfig, origins: ConfigOrigins): string[] {
  if (isLoopback(config.host) || origins.registration !== undefined) return [];
  return [
    `host: ${config.host} is reachable from other machines and anyone could open an account: write registration = "codes" and hand out codes, or registration = "open" to allow that, or listen on 127.0.0.1`,
  ];
}

function fromFile(file: string | undefined, problems: string[]): Written[] {
  if (file === undefined) return [];
  const content = readText(file, "config file", problems);
  if (content === undefined) return [];
  try {
    return entriesOf(parseToml(content), (name) => `file ${name}`, problems);
  } catch (cause) {
    // The parser's text quotes the line at fault, which may hold a secret: keep its first line.
    const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "";
    problems.push(`config file ${file}: expected TOML: ${reason}`);
    return [];
  }
}

function fromFlags(flags: Readonly<Record<string, unknown>>, problems: string[]): Written[] {
  const given = Object.fromEntries(
    Object.entries(flags).filter(([, value]) => value !== undefined),
  );
  return entriesOf(given, (name) => `flag --${name.replaceAll("_", "-")}`, problems);
}

function fromEnvironment(env: ConfigSources["env"], problems: string[]): Written[] {
  const nameByVariable = new Map<string, string>();
  for (const setting of settings) {
    const variable = setting.env ?? envPrefix + setting.name.toUpperCase();
    nameByVariable.set(variable, setting.name);
    if (setting.secret === true) nameByVariable.set(`${variable}_FILE`, `${setting.name}_file`);
  }
  const given: Record<string, unknown> = {};
  const variableByName = new Map<string, string>();
  for (const [variable, value] of Object.entries(env)) {
    const name = nameByVariable.get(variable);
    if (name !== undefined && value !== undefined) {
      given[name] = value;
      variableByName.set(name, variable);
    } else if (variable.startsWith(envPrefix) && variable !== fileVariable) {
      problems.push(
        `env ${variable}: no such setting; ${suggestion(variable.slice(envPrefix.length).toLowerCase())}`,
      );
    }
  }
  return entriesOf(given, (name) => `env ${variableByName.get(name) ?? name}`, problems);
}

function entriesOf(
  given: Readonly<Record<string, unknown>>,
  originOf: (name: string) => string,
  problems: string[],
): Written[] {
  const written: Written[] = [];
  for (const [name, value] of Object.entries(given)) {
    const setting = settings.find(
      (each) => name === each.name || (each.secret === true && name === `${each.name}_file`),
    );
    const origin = originOf(name);
    if (setting === undefined) {
      problems.push(`${origin}: no such setting; ${suggestion(name)}`);
    } else if (name === setting.name) {
      written.push({ setting, value, origin });
    } else if (given[setting.name] !== undefined) {
      problems.push(`${origin}: ${originOf(setting.name)} is set too; keep one of them`);
    } else if (typeof value === "string") {
      const secret = readText(value, origin, problems);
      if (secret !== undefined) written.push({ setting, value: secret.trim(), origin });
    } else {
      problems.push(`${origin}: expected the path of a file, got ${typeof value}`);
    }
  }
  return written;
}

function suggestion(name: string): string {
  const twin = settings.find(
    (each) => each.name.replaceAll("_", "") === name.replaceAll(/[_-]/g, "").toLowerCase(),
  );
  if (twin !== undefined) {
    return `did you mean ${twin.env === undefined ? twin.name : `${twin.name} (in the environment: ${twin.env})`}?`;
  }
  return `the settings are ${settings.map((each) => each.name).join(", ")}`;
}

function readText(file: string, origin: string, problems: string[]): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    problems.push(`${origin}: cannot read ${file} (${code}): check the path and who may read it`);
    return undefined;
  }
}

function shown(setting: Setting, value: unknown): string {
  return setting.secret === true
    ? "another text (hidden)"
    : (JSON.stringify(value) ?? typeof value);
}

function tomlValue(setting: Setting, value: RelayConfig[keyof RelayConfig]): string {
  return setting.secret === true ? '"***"' : JSON.stringify(value);
}
