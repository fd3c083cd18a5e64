/**
 * Kinds of columns that SQLite has no word for.
 */
import { customType, integer } from "drizzle-orm/sqlite-core";

// Plain Uint8Array outside the driver, which binds and returns Buffers.
/** Bytes. */
export const bytes = customType<{ data: Uint8Array; driverData: Buffer }>({
  dataType: () => "blob",
  toDriver: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  fromDriver: (value) => new Uint8Array(value),
});
/** Yes or no. */
export const flag = (): ReturnType<typeof integer<"boolean">> => integer({ mode: "boolean" });
