/**
 * `pixie relay doctor`: everything that can be looked at from here, told as it is found. It changes
 * nothing but the doctor's own account, which `--public` needs.
 */
import { existsSync } from "node:fs";
import path from "node:path";

import type { Clock } from "../../../shared/clock.ts";
import type { RelayConfig } from "../../config.ts";
import { clusterFolder } from "../../db/cluster.ts";
import { joinDatabase } from "../../db/client.ts";
import { causeText } from "../../db/database-error.ts";
import { createLog } from "../../log.ts";
import { checkDatabase } from "./database-checks.ts";
import { readSecret } from "./doctor-account.ts";
import { failure, fine, type Finding } from "./finding.ts";
import { checkMachine } from "./machine-checks.ts";
import { checkPublic } from "./public-checks.ts";

/** What is asked. */
export interface DoctorOrder {
  readonly config: RelayConfig;
  /** Look at the relay as users reach it, too. */
  readonly publicUrl: string | undefined;
  /** A registration code for the doctor's account. */
  readonly code: string | undefined;
  /** How long a quiet connection must live. Units: ms. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly tell: (finding: Finding) => void;
}

/** Looks at everything; whether nothing failed. */
export async function runDoctor(order: DoctorOrder): Promise<boolean> {
  const { config, clock, publicUrl } = order;
  let failed = false;
  const tell = (findings: readonly Finding[]): void => {
    for (const finding of findings) {
      failed ||= finding.level === "fail";
      order.tell(finding);
    }
  };
  tell(await checkMachine(config, clock));
  tell(await lookAtDatabase(config, clock));
  if (publicUrl !== undefined) tell(await lookFromOutside(order, publicUrl));
  return !failed;
}

async function lookAtDatabase(config: RelayConfig, clock: Clock): Promise<readonly Finding[]> {
  const { dataDir, databaseUrl } = config;
  if (databaseUrl === undefined && !existsSync(clusterFolder(dataDir))) {
    return [fine("database", "the embedded one is made by the first start")];
  }
  const log = createLog({ level: "silent" });
  const opened = await joinDatabase({
    dataDir,
    databaseUrl,
    log,
    maxConnections: 1,
    migrate: "later",
  });
  if (!opened.ok) return [failure("database", "cannot be opened", opened.error.message)];
  try {
    return await checkDatabase(opened.value.sql, opened.value.serverVersion, clock);
  } catch (cause) {
    return [failure("database", causeText(cause), "look at the database server's log")];
  } finally {
    await opened.value.close();
  }
}

async function lookFromOutside(order: DoctorOrder, publicUrl: string): Promise<readonly Finding[]> {
  const { config, code, idleMs, clock } = order;
  const url = publicUrl.replace(/\/+$/, "");
  try {
    const secret = readSecret(path.join(config.dataDir, "doctor.key"));
    const localUrl = urlOf(config.host, config.port);
    const adminUrl = config.adminPort === 0 ? undefined : urlOf(config.adminHost, config.adminPort);
    return await checkPublic({ url, secret, code, idleMs, localUrl, adminUrl, clock });
  } catch (cause) {
    return [
      failure("doctor", causeText(cause), "look at data_dir, where the doctor keeps its key"),
    ];
  }
}

/** An address that the relay listens on, to be asked from this machine. */
function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
