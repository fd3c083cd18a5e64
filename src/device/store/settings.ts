/**
 * Small single values of the device by name, as text: epoch, notices already given.
 */
import { eq } from "drizzle-orm";
import { setting } from "./schema.ts";
import type { ReadTx, WriteTx } from "./sqlite.ts";

/** The value under a key, if there is one. */
export function getSetting(tx: ReadTx, key: string): string | undefined {
  return tx.select().from(setting).where(eq(setting.key, key)).get()?.value;
}

/** Stores a value, replacing the one before. */
export function putSetting(tx: WriteTx, key: string, value: string): void {
  tx.insert(setting)
    .values({ key, value })
    .onConflictDoUpdate({ target: setting.key, set: { value } })
    .run();
}

/** Forgets a value. */
export function deleteSetting(tx: WriteTx, key: string): void {
  tx.delete(setting).where(eq(setting.key, key)).run();
}
