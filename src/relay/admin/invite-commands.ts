/**
 * `pixie relay invite …`: making, listing and revoking registration codes, beside a running relay or
 * without one. A code is printed once, on standard output, and never logged.
 *
 * Spec: docs/operating.md "Registration codes".
 */
import { dayMs, systemClock } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { systemRng } from "../../shared/rng.ts";
import type { RelayConfig } from "../config.ts";
import { joinDatabase } from "../db/client.ts";
import { createLog } from "../log.ts";
import { createCode, listCodes, revokeCode } from "../store/registration-codes.ts";
import type { Sql } from "../store/sql-values.ts";

/** What an operator asks. */
export type InviteOrder =
  | { readonly type: "create"; readonly uses: string; readonly days: string }
  | { readonly type: "list" }
  | { readonly type: "revoke"; readonly id: string };

/** Why nothing was done. `input` is the operator's, `database` is not. */
export type InviteError = { readonly type: "input" | "database"; readonly message: string };

const maxUses = 10_000;
const maxDays = 3_650;

/** Carries an order out; returns the lines to print. */
export async function runInvite(
  config: RelayConfig,
  order: InviteOrder,
): Promise<Result<readonly string[], InviteError>> {
  const log = createLog({ level: config.logLevel === "info" ? "warn" : config.logLevel });
  const { dataDir, databaseUrl, databaseMigrate: migrate } = config;
  const opened = await joinDatabase({ dataDir, databaseUrl, migrate, log });
  if (!opened.ok) return err({ type: "database", message: opened.error.message });
  try {
    return await perform(opened.value.sql, order);
  } finally {
    await opened.value.close();
  }
}

async function perform(
  sql: Sql,
  order: InviteOrder,
): Promise<Result<readonly string[], InviteError>> {
  const nowMs = systemClock.nowMs();
  if (order.type === "list") return ok((await listCodes(sql)).map((code) => JSON.stringify(code)));
  if (order.type === "revoke") {
    return (await revokeCode(sql, order.id, nowMs))
      ? ok([JSON.stringify({ id: order.id, revoked: true })])
      : err({ type: "input", message: `no code has the id ${order.id}: see relay invite list` });
  }
  const [uses, days] = [within(order.uses, maxUses), within(order.days, maxDays)];
  if (uses === undefined || days === undefined) {
    const message = `expected --uses from 1 to ${maxUses} and --days from 1 to ${maxDays}, got ${order.uses} and ${order.days}`;
    return err({ type: "input", message });
  }
  const expiresMs = nowMs + days * dayMs;
  const made = await createCode(sql, systemRng, { uses, expiresMs }, nowMs);
  return ok([JSON.stringify({ ...made, uses, expiresMs })]);
}

function within(text: string, high: number): number | undefined {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= high ? value : undefined;
}
