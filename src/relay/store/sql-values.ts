/**
 * How values cross into SQL: ids as uuid text, columns of a batch as array literals. Everything that
 * the driver would otherwise guess is written here once.
 *
 * Array parameters are text literals because the driver cannot bind an array of bytes, and binding
 * arrays element by element costs more than the statement itself.
 */
import type postgres from "postgres";

import { bodyOverheadBytes, headerBytes } from "../../shared/limits.ts";

/** The pool. Single autocommit statements only (see db/client.ts). */
export type Sql = postgres.Sql;

/** A base64url id as the 32 hexadecimal digits that a uuid column reads. */
export function uuidOf(id: string): string {
  return Buffer.from(id, "base64url").toString("hex");
}

/** Id bytes as the 32 hexadecimal digits that a uuid column reads. */
export function uuidOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** A uuid column's text as a base64url id. */
export function idOf(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

/** An array literal of values that need no quoting: uuids, integers, null. */
export function arrayLiteral(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}

/** Bytes in the form that a query parameter takes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** What an item adds to the size of its bucket (`1024 << 2 * bucket`). Units: bytes. */
export const itemOverheadBytes = headerBytes + bodyOverheadBytes;
