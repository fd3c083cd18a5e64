/**
 * The machine under the relay: data folder, ports and their holders, the clock. It only looks, so it
 * can run beside a relay, and before there is one.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";

import type { Clock } from "../../../shared/clock.ts";
import type { RelayConfig } from "../../config.ts";
import { inspectDataFolder } from "../../db/data-folder.ts";
import { hasCode } from "../../db/database-error.ts";
import { lockHolder } from "../../db/folder-lock.ts";
import { clockProblem } from "../clock-problem.ts";
import { findPortHolder } from "../port-holder.ts";
import { failure, fine, type Finding } from "./finding.ts";

/** Looks at the machine. */
export async function checkMachine(config: RelayConfig, clock: Clock): Promise<readonly Finding[]> {
  const wrongClock = clockProblem(clock.nowMs());
  return [
    wrongClock === undefined
      ? fine("clock", new Date(clock.nowMs()).toISOString())
      : failure("clock", "never set", wrongClock),
    ...(config.databaseUrl === undefined ? checkFolder(config.dataDir) : []),
    await checkPort("port", config.host, config.port),
    ...(config.adminPort === 0
      ? []
      : [await checkPort("admin_port", config.adminHost, config.adminPort)]),
  ];
}

function checkFolder(dataDir: string): readonly Finding[] {
  if (!existsSync(dataDir)) return [fine("data_dir", `${dataDir} is made by the first start`)];
  const problem = inspectDataFolder(dataDir);
  const holder = lockHolder(path.join(dataDir, "relay.lock"));
  return [
    problem === undefined
      ? fine("data_dir", `${dataDir}: owner, file system and free space are right`)
      : failure("data_dir", "cannot be used", problem),
    fine(
      "lock",
      holder === undefined ? "no relay runs here" : `held by the relay with pid ${holder}`,
    ),
  ];
}

async function checkPort(setting: string, host: string, port: number): Promise<Finding> {
  const problem = await bindProblem(host, port);
  if (problem === undefined) return fine(setting, `${host}:${port} is free`);
  const holder = findPortHolder(port);
  const who = holder === undefined ? "an unknown process" : `pid ${holder.pid} (${holder.command})`;
  if (problem !== "EADDRINUSE") {
    return failure(
      setting,
      `${host}:${port} cannot be listened on (${problem})`,
      `check ${setting}`,
    );
  }
  return /\brelay\b.*\bstart\b/.test(holder?.command ?? "")
    ? fine(setting, `${host}:${port} is held by the relay, ${who}`)
    : failure(setting, `${host}:${port} is held by ${who}`, `stop it, or set another ${setting}`);
}

function bindProblem(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (cause) => {
      const known = ["EADDRINUSE", "EACCES", "EADDRNOTAVAIL"].find((code) => hasCode(cause, code));
      resolve(known ?? cause.message);
    });
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
