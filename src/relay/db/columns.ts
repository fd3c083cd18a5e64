/**
 * Column types that drizzle does not bring: raw bytes, and 64-bit integers as numbers.
 *
 * Times that the product compares are columns named `…_ms`: milliseconds since 1970 UTC, written
 * from the relay's clock port and never from the database's, so that tests move time by hand.
 */
import { bigint, customType } from "drizzle-orm/pg-core";

/** Raw bytes. Postgres `bytea`; never text, so U+0000 and lone surrogates pass unharmed (R52). */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/** A 64-bit integer that stays within ±(2^53 − 1): counters, sequence numbers, milliseconds. */
export const int8 = (name: string): ReturnType<typeof bigint<string, "number">> =>
  bigint(name, { mode: "number" });
