/**
 * `pixie relay …`: the operator's commands. Every setting is a flag; what a flag means, and what
 * wins over what, is config.ts. Each command ends with a code of exit-codes.ts.
 *
 * The relay itself is imported when it is started: a health check every few seconds, and every
 * command of the device, would otherwise load a server and its database driver.
 */
import type { Command } from "commander";

import type { InviteOrder } from "./admin/invite-commands.ts";
import { registerBackupCommands } from "./backup-commands.ts";
import { addCommand, fail, load, withSettings } from "./command-settings.ts";
import { registerDoctorCommand } from "./doctor-command.ts";
import { dumpRelayConfig, type LoadedConfig, type RelayConfig } from "./config.ts";
import { causeText } from "./db/database-error.ts";
import { exitCodes } from "./exit-codes.ts";

/** Longer than any answer of a relay that works. */
const askMs = 5_000;

/** Adds `relay` and its commands. */
export function registerRelayCommands(program: Command): void {
  const relay = program.command("relay").description("run and look after a relay");
  const start = relay
    .command("start")
    .description("run a relay in the foreground")
    .option("--hints", "print the commands that connect a first device (default: on a terminal)")
    .option("--no-hints", "do not print them")
    .addHelpText("after", exitCodeHelp);
  withSettings(start).action(async () => {
    const { hints, ...options } = start.opts<Readonly<Record<string, unknown>>>();
    const loaded = load(options);
    if (loaded === undefined) return;
    const { runRelay } = await import("./main.ts");
    const code = await runRelay({
      config: loaded.config,
      hints: typeof hints === "boolean" ? hints : hintsByDefault(),
    });
    // Not left to an empty event loop: the bound of a stop holds whatever still has a timer.
    process.exit(code);
  });
  addCommand(relay, "migrate", "bring the database's schema up to this version", migrate);
  addCommand(relay, "info", "print what a running relay says about itself", (loaded) =>
    ask(loaded.config, "/v1/info"),
  );
  addCommand(relay, "health", "ask a running relay whether it is ready", (loaded) =>
    ask(loaded.config, "/health/ready"),
  );
  addInviteCommands(relay);
  registerBackupCommands(relay);
  registerDoctorCommand(relay);
  addRelaneCommand(relay);
  const config = relay.command("config").description("look at the configuration without starting");
  addCommand(config, "check", "say whether the configuration is valid", () => {
    process.stdout.write("the configuration is valid\n");
  });
  addCommand(config, "dump", "print every setting with its origin, secrets masked", (loaded) => {
    process.stdout.write(dumpRelayConfig(loaded));
  });
}

function addInviteCommands(relay: Command): void {
  const invite = relay.command("invite").description("codes that let somebody open an account");
  const create = invite
    .command("create")
    .description("make a code and print it, once")
    .option("--uses <n>", "accounts that it may open", "1")
    .option("--days <n>", "days until it expires", "7");
  withSettings(create).action(async () => {
    const { uses, days, ...options } = create.opts<Readonly<Record<string, unknown>>>();
    await order({ type: "create", uses: String(uses), days: String(days) }, options);
  });
  const list = invite.command("list").description("print every code's id, use and expiry");
  withSettings(list).action(() => order({ type: "list" }, list.opts()));
  const revoke = invite.command("revoke").description("end a code").argument("<id>");
  withSettings(revoke).action((id: string) => order({ type: "revoke", id }, revoke.opts()));
}

function addRelaneCommand(relay: Command): void {
  const command = relay
    .command("relane")
    .description("change the number of lanes, while no relay runs")
    .requiredOption("--lanes <n>", "lanes from now on");
  withSettings(command).action(async () => {
    const { lanes, ...options } = command.opts<Readonly<Record<string, unknown>>>();
    const loaded = load(options);
    if (loaded === undefined) return;
    const { runRelane } = await import("./admin/relane.ts");
    const done = await runRelane(loaded.config, String(lanes));
    if (done.ok) process.stdout.write(`${JSON.stringify(done.value)}\n`);
    else fail(done.error.message, done.error.type === "input" ? exitCodes.config : exitCodes.start);
  });
}

async function order(what: InviteOrder, options: Readonly<Record<string, unknown>>): Promise<void> {
  const loaded = load(options);
  if (loaded === undefined) return;
  const { runInvite } = await import("./admin/invite-commands.ts");
  const done = await runInvite(loaded.config, what);
  if (done.ok) for (const line of done.value) process.stdout.write(`${line}\n`);
  else fail(done.error.message, done.error.type === "input" ? exitCodes.config : exitCodes.start);
}

async function migrate({ config }: LoadedConfig): Promise<void> {
  const { openDatabase } = await import("./db/client.ts");
  const { createLog } = await import("./log.ts");
  const log = createLog({ level: config.logLevel });
  const opened = await openDatabase({ ...config, log, migrate: true });
  if (!opened.ok) return fail(opened.error.message, exitCodes.start);
  const { kind, serverVersion, schema } = opened.value;
  await opened.value.close();
  process.stdout.write(`${JSON.stringify({ database: kind, serverVersion, ...schema })}\n`);
}

async function ask(config: RelayConfig, path: string): Promise<void> {
  // 127.0.0.1 by number: `localhost` may resolve to ::1, where nothing listens (O22).
  const host = config.host === "0.0.0.0" ? "127.0.0.1" : config.host === "::" ? "::1" : config.host;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${config.port}${path}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askMs) });
    process.stdout.write(`${await response.text()}\n`);
    if (!response.ok) fail(`${url} answered ${response.status}`, exitCodes.start);
  } catch (cause) {
    fail(
      `no relay answers at ${url} (${causeText(cause)}): start it, or say its --host and --port`,
      exitCodes.start,
    );
  }
}

function hintsByDefault(): boolean {
  return process.stdout.isTTY || process.env["npm_lifecycle_event"] === "start";
}

const exitCodeHelp = `
Exit codes: ${exitCodes.stopped} stopped by a signal, ${exitCodes.config} wrong configuration, ${exitCodes.start} could not start,
${exitCodes.drain} the stop was cut short, ${exitCodes.unexpected} unexpected error, 130 and 143 second SIGINT or SIGTERM.`;
