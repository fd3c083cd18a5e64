/**
 * Carries out what an operator asks of backups: opens the database that each order needs, with one
 * connection (a snapshot is held on it) and at whatever schema it has.
 */
import type { Clock } from "../../../shared/clock.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { RelayConfig } from "../../config.ts";
import { type Database, joinDatabase, openDatabase } from "../../db/client.ts";
import { createLog, type Logger } from "../../log.ts";
import type { BackupError } from "./backup-format.ts";
import { type RehearsalPorts, rehearseUpgrade } from "./rehearse-upgrade.ts";
import { restoreBackup } from "./restore-backup.ts";
import { takeBackup } from "./take-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

/** What an operator asks. */
export type BackupOrderName =
  | { readonly type: "backup" | "verify" | "restore"; readonly folder: string }
  | { readonly type: "rehearse-upgrade" };

/** What it is carried out with. */
export interface BackupPlace {
  readonly config: RelayConfig;
  readonly clock: Clock;
  readonly startRelay: RehearsalPorts["startRelay"];
}

type Open = typeof openDatabase;

/** Carries it out; the value is for the operator, as JSON. Errors: all of `BackupError`. */
export async function runBackupOrder(
  place: BackupPlace,
  order: BackupOrderName,
): Promise<Result<object, BackupError>> {
  const { config, clock, startRelay } = place;
  const log = createLog({ level: config.logLevel === "info" ? "warn" : config.logLevel });
  const nowMs = (): number => clock.nowMs();
  if (order.type === "verify") return verifyBackup(order.folder, log);
  if (order.type === "restore") {
    return withDatabase({ config, log, open: openDatabase }, ({ sql }) =>
      restoreBackup(sql, order.folder),
    );
  }
  return withDatabase<object>({ config, log, open: joinDatabase }, async (database) => {
    const { sql, serverVersion } = database;
    if (order.type === "rehearse-upgrade") {
      return rehearseUpgrade({ sql, serverVersion, log, nowMs, startRelay });
    }
    const { folder } = order;
    const began = nowMs();
    const taken = await takeBackup({ sql, serverVersion, folder, nowMs: began });
    if (!taken.ok) return taken;
    const { tables, epoch, schema } = taken.value;
    const sum = (of: "rows" | "bytes"): number =>
      tables.reduce((total, table) => total + table[of], 0);
    const told = { folder, epoch, schema: schema.length, rows: sum("rows"), bytes: sum("bytes") };
    return ok({ ...told, tookMs: nowMs() - began });
  });
}

interface Opening {
  readonly config: RelayConfig;
  readonly log: Logger;
  readonly open: Open;
}

async function withDatabase<T>(
  { config, log, open }: Opening,
  run: (database: Database) => Promise<Result<T, BackupError>>,
): Promise<Result<T, BackupError>> {
  const { dataDir, databaseUrl } = config;
  const opened = await open({ dataDir, databaseUrl, log, maxConnections: 1, migrate: "later" });
  if (!opened.ok) return err({ type: "database", message: opened.error.message });
  try {
    return await run(opened.value);
  } finally {
    await opened.value.close();
  }
}
