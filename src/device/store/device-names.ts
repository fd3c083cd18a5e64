/**
 * Names of the account's other devices, as each calls itself. Only own devices ever hear them.
 */
import { eq } from "drizzle-orm";

import { deviceName } from "./homebase-tables.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** What a sibling is called, if it has said so. */
export function siblingName(tx: ReadTx, deviceId: string): string | undefined {
  return tx.select().from(deviceName).where(eq(deviceName.deviceId, deviceId)).get()?.name;
}

/** Every name that is known, by device. */
export function siblingNames(tx: ReadTx): ReadonlyMap<string, string> {
  const rows = tx.select().from(deviceName).all();
  return new Map(rows.map(({ deviceId, name }) => [deviceId, name]));
}

/** Keeps a name. */
export function putSiblingName(tx: WriteTx, deviceId: string, name: string): void {
  tx.insert(deviceName)
    .values({ deviceId, name })
    .onConflictDoUpdate({ target: deviceName.deviceId, set: { name } })
    .run();
}
