/**
 * Who this database is: its epoch, which changes when it is restored from a backup, and the number
 * of lanes. Read once at start; both change only while no relay runs.
 */
import type { Sql } from "./sql-values.ts";

/** The stored identity of a relay. */
export interface RelayState {
  readonly epoch: string;
  readonly lanes: number;
}

/** Reads it. Throws when migrations did not write it. */
export async function readRelayState(sql: Sql): Promise<RelayState> {
  const [row] = await sql<RelayState[]>`select epoch::text as epoch, lanes from relay_state`;
  if (row === undefined) throw new Error("relay_state is empty: the migrations did not run");
  return row;
}

/** Whether the database answers. Rejects with its failure when it does not. */
export async function probeDatabase(sql: Sql): Promise<void> {
  await sql`select 1`;
}
