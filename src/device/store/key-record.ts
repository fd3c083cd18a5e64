/**
 * The file `store-key.json`: where the key of a store is, or the key itself. 0600, written once,
 * whole or not at all, and never over another one.
 *
 * It decides nothing and derives nothing (key-source.ts). Spec: docs/operating.md "The key of the
 * store".
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";

import { parseBase64Url } from "../../shared/bytes.ts";
import { err, ok, type Result } from "../../shared/result.ts";

/** What `store-key.json` says. `cost` is scrypt's N. */
export type KeyRecord =
  | { readonly source: "file"; readonly key: Uint8Array }
  | { readonly source: "keyring"; readonly account: string }
  | { readonly source: "passphrase"; readonly salt: Uint8Array; readonly cost: number };

/** Why the record cannot be believed. */
export interface KeyRecordError {
  readonly type: "key-file-owner" | "key-file-permissions" | "key-file-malformed";
  readonly message: string;
}

/** Name of the file. */
export const storeKeyFile = "store-key.json";

/** Length of a store's key. */
export const keyBytes = 32;
/** Length of the salt of a passphrase. */
export const saltBytes = 16;

// Above it, a damaged file could make opening a store take gigabytes.
const maxCost = 2 ** 20;

/** Reads the record; `undefined` when there is none yet. */
export function readKeyRecord(file: string): Result<KeyRecord | undefined, KeyRecordError> {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return ok(undefined);
  const me = process.getuid?.();
  if (me !== undefined && stats.uid !== me) {
    return refuse(
      "key-file-owner",
      `${file} belongs to user ${stats.uid}, this process runs as ${me}: run as its owner`,
    );
  }
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) {
    const got = (stats.mode & 0o777).toString(8).padStart(4, "0");
    return refuse(
      "key-file-permissions",
      `${file} is open to other users: expected mode 0600, got ${got}: run chmod 600 on it`,
    );
  }
  const record = parseRecord(readFileSync(file, "utf8"));
  return record === undefined
    ? refuse("key-file-malformed", `${file} is not a key record: restore it from a copy`)
    : ok(record);
}

function parseRecord(text: string): KeyRecord | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Cut short or edited by hand: the caller names the file.
    return undefined;
  }
  if (typeof json !== "object" || json === null) return undefined;
  const field = (name: string): unknown => Object.getOwnPropertyDescriptor(json, name)?.value;
  const cost = field("cost");
  switch (field("source")) {
    case "file": {
      const key = bytesOf(field("key"), keyBytes);
      return key === undefined ? undefined : { source: "file", key };
    }
    case "keyring": {
      const account = field("account");
      return typeof account === "string" ? { source: "keyring", account } : undefined;
    }
    case "passphrase": {
      const salt = bytesOf(field("salt"), saltBytes);
      if (salt === undefined || !isCost(cost)) return undefined;
      return { source: "passphrase", salt, cost };
    }
    default:
      return undefined;
  }
}

function isCost(value: unknown): value is number {
  return (
    typeof value === "number" && value >= 2 ** 14 && value <= maxCost && (value & (value - 1)) === 0
  );
}

function bytesOf(value: unknown, length: number): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  const bytes = parseBase64Url(value);
  return bytes.ok && bytes.value.length === length ? bytes.value : undefined;
}

/** Writes the record durably. Throws when there is one already: its key would be lost. */
export function writeKeyRecord(
  file: string,
  record: Readonly<Record<string, string | number>>,
): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify({ v: 1, ...record })}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  linkSync(draft, file);
  rmSync(draft);
  const folder = openSync(path.dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function refuse(
  type: KeyRecordError["type"],
  message: string,
): { readonly ok: false; readonly error: KeyRecordError } {
  return err({ type, message });
}
