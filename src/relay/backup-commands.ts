/**
 * `pixie relay backup | verify | restore | rehearse-upgrade` on the command line. What they do is
 * admin/backup/; a rehearsal also gets a whole relay to start, which only the composition knows.
 */
import path from "node:path";

import type { Command } from "commander";

import { systemClock } from "../shared/clock.ts";
import { err, ok } from "../shared/result.ts";
import type { BackupOrderName, BackupPlace } from "./admin/backup/backup-orders.ts";
import { addCommand, fail, load, withSettings } from "./command-settings.ts";
import { defaultConfig } from "./config-settings.ts";
import type { RelayConfig } from "./config.ts";
import { exitCodes } from "./exit-codes.ts";

/** Adds them. */
export function registerBackupCommands(relay: Command): void {
  const folderCommands = [
    ["backup", "copy the database into a new folder, while the relay runs"],
    ["verify", "load a backup into a scratch database and compare"],
    ["restore", "load a backup into this relay's empty database"],
  ] as const;
  for (const [type, about] of folderCommands) {
    const command = withSettings(relay.command(type).description(about).argument("<folder>"));
    command.action(async (folder: string) => {
      const loaded = load(command.opts<Readonly<Record<string, unknown>>>());
      if (loaded !== undefined) await order(loaded.config, { type, folder: path.resolve(folder) });
    });
  }
  addCommand(
    relay,
    "rehearse-upgrade",
    "run this version's migrations on a clone of the database, and a relay on that",
    ({ config }) => order(config, { type: "rehearse-upgrade" }),
  );
}

async function order(config: RelayConfig, what: BackupOrderName): Promise<void> {
  const { runBackupOrder } = await import("./admin/backup/backup-orders.ts");
  const done = await runBackupOrder({ config, clock: systemClock, startRelay }, what);
  if (done.ok) process.stdout.write(`${JSON.stringify(done.value)}\n`);
  else fail(done.error.message, exitCodes.start);
}

const startRelay: BackupPlace["startRelay"] = async (dataDir) => {
  const { createRelay } = await import("./index.ts");
  const started = await createRelay({
    config: { ...defaultConfig, dataDir, port: 0, logLevel: "silent" },
  });
  if (!started.ok) return started;
  try {
    const { status } = await fetch(`${started.value.url}/health/ready`);
    return status === 200 ? ok(undefined) : err({ message: `it is not ready (${status})` });
  } finally {
    await started.value.close();
  }
};
