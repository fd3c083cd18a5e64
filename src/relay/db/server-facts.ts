/**
 * What the server says of itself before it is used: waited for while it starts, refused when it is too
 * old or a standby, and asked how much of a commit it keeps.
 */
import postgres from "postgres";

import { err, ok, type Result } from "../../shared/result.ts";
import type { Logger } from "../log.ts";
import { causeText, type DatabaseError } from "./database-error.ts";

/** What the relay has to know of a server. */
export interface ServerFacts {
  readonly version: string;
  readonly synchronousCommit: string;
}

const oldestServer = 150_000;

/** A server that is still starting is asked again for this long. Units: ms. */
const startingMs = 10_000;
/** More than the driver needs to find out about one host. Units: ms. */
const answerMs = 15_000;

/** Asks. Errors: `unreachable`, `server-too-old`. */
export async function readFacts(
  sql: postgres.Sql,
  log: Logger,
): Promise<Result<ServerFacts, DatabaseError>> {
  const row = await firstAnswer(sql);
  if (!row.ok) return row;
  const { number, version, standby, fsync, synchronousCommit } = row.value;
  if (number < oldestServer) {
    return err({
      type: "server-too-old",
      message: `the database is Postgres ${version}, expected 15 or newer: upgrade it`,
    });
  }
  if (standby) {
    return err({
      type: "unreachable",
      message:
        "the database is a read-only standby: connect to the primary, or add target_session_attrs=primary to DATABASE_URL",
    });
  }
  if (fsync === "off")
    log.warn("the database runs with fsync=off: accepted envelopes can be lost in a power cut");
  return ok({ version: version.split(" ")[0] ?? version, synchronousCommit });
}

interface FactsRow {
  readonly number: number;
  readonly version: string;
  readonly standby: boolean;
  readonly fsync: string;
  readonly synchronousCommit: string;
}

async function firstAnswer(sql: postgres.Sql): Promise<Result<FactsRow, DatabaseError>> {
  const until = performance.now() + startingMs;
  for (;;) {
    try {
      return ok(await Promise.race([askFacts(sql), noAnswer()]));
    } catch (cause) {
      // 57P03: the server is starting up or recovering.
      const starting = cause instanceof postgres.PostgresError && cause.code === "57P03";
      if (!starting || performance.now() > until) {
        return err({
          type: "unreachable",
          message: `cannot reach the database: ${causeText(cause)}; check DATABASE_URL (host, port, user, password, database) and that the server runs`,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function askFacts(sql: postgres.Sql): Promise<FactsRow> {
  const [row] = await sql<FactsRow[]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      pg_is_in_recovery() as standby, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as "synchronousCommit"`;
  if (row === undefined) throw new Error("the server answered without a row");
  return row;
}

/** With several hosts the driver tries one after the other for ever, and never says that none answers. */
async function noAnswer(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, answerMs).unref());
  throw new Error(`no primary answered within ${answerMs / 1000} s`);
}
