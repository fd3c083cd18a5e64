/**
 * Why a device store cannot be opened or written, as a person can act on it. SQLite reports a code;
 * this file turns the ones with a known cause into words. Anything else stays an exception: a bug.
 *
 * Spec: docs/operating.md "The device store".
 */

export type StoreErrorType =
  | "wrong-key"
  | "not-a-store"
  | "future-schema"
  | "read-only"
  | "disk-full"
  | "network-file-system"
  | "busy"
  | "damaged"
  | "no-folder";

/** One reason, with what to do about it. */
export interface StoreError {
  readonly type: StoreErrorType;
  readonly message: string;
}

const typeByCode: readonly (readonly [prefix: string, type: StoreErrorType, message: string])[] = [
  ["SQLITE_FULL", "disk-full", "the disk is full: free some space, nothing was lost"],
  ["SQLITE_IOERR", "disk-full", "the disk refuses to write: look at its space and health"],
  ["SQLITE_READONLY", "read-only", "the store or its folder is read-only: make both writable"],
  ["SQLITE_CANTOPEN", "read-only", "the store cannot be opened: the folder must be writable"],
  ["SQLITE_PERM", "read-only", "the store belongs to another user: run as its owner"],
  ["SQLITE_BUSY", "busy", "another program holds the store: close it first"],
  ["SQLITE_LOCKED", "busy", "another program holds the store: close it first"],
  ["SQLITE_CORRUPT", "damaged", "the store is damaged: link this device anew, or restore a backup"],
  [
    "SQLITE_NOTADB",
    "wrong-key",
    "the key does not open this store: give the passphrase or key file that it was made with",
  ],
];

/** The cause of an exception that SQLite threw, or `undefined` when it is no trouble of the store. */
export function storeErrorOf(thrown: unknown): StoreError | undefined {
  const code = sqliteCode(thrown);
  if (code === undefined) return undefined;
  const known = typeByCode.find(([prefix]) => code.startsWith(prefix));
  return known === undefined ? undefined : { type: known[1], message: known[2] };
}

function sqliteCode(thrown: unknown): string | undefined {
  // drizzle wraps what the driver throws.
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && at.code.startsWith("SQLITE_")) {
      return at.code;
    }
  }
  return undefined;
}
