/**
 * Where the 32-byte key of the encrypted store comes from: a passphrase, else the system's keyring,
 * else a file beside the store, which is said loudly because it protects nobody who reads the disk.
 *
 * The choice is made once, when the folder is new, and written to `store-key.json`: a keyring that
 * turns up later must not lock the owner out. It opens no store; a wrong passphrase shows there.
 * Runs under the folder's lock. Spec: docs/operating.md "The key of the store".
 */
import { randomBytes, scrypt } from "node:crypto";
import path from "node:path";

import { equalBytes, toBase64Url } from "../../shared/bytes.ts";
import { assertNever, err, ok, type Result } from "../../shared/result.ts";
import {
  keyBytes,
  type KeyRecord,
  type KeyRecordError,
  readKeyRecord,
  saltBytes,
  storeKeyFile,
  writeKeyRecord,
} from "./key-record.ts";
import { type Keyring, systemKeyring } from "./keyring.ts";

/** Where the key of the encrypted store comes from. `key-file` never asks the keyring. */
export type StoreKeySource =
  | { readonly type: "auto" }
  | { readonly type: "key-file" }
  | { readonly type: "passphrase"; readonly passphrase: string };

/** Why there is no key. `message` says what to do and holds no secret. */
export interface StoreKeyError {
  readonly type:
    | KeyRecordError["type"]
    | "key-missing"
    | "key-source-mismatch"
    | "passphrase-needed"
    | "passphrase-empty"
    | "keyring-unavailable";
  readonly message: string;
}

/** How to find the key. */
export interface StoreKeyRequest {
  readonly dataDir: string;
  readonly source: StoreKeySource;
  /** Whether a store lies in the folder already: then no new key may be made for it. */
  readonly storeExists: boolean;
  readonly keyring?: () => Promise<Keyring | undefined>;
  /** Receives the loud notice about a key file. */
  readonly onNotice: (notice: string) => void;
}

/** Finds the key of a folder's store, or makes one for a new folder. Units: 32 bytes. */
export async function resolveStoreKey(
  request: StoreKeyRequest,
): Promise<Result<Uint8Array, StoreKeyError>> {
  if (request.source.type === "passphrase" && request.source.passphrase === "") {
    return refuse("passphrase-empty", "the passphrase is empty: expected at least one character");
  }
  const file = path.join(request.dataDir, storeKeyFile);
  const written = readKeyRecord(file);
  if (!written.ok) return written;
  if (written.value !== undefined) return keyOf(written.value, request);
  if (request.storeExists) {
    return refuse(
      "key-missing",
      `${file} is missing, and the store beside it cannot be opened without it: restore that file`,
    );
  }
  return createKey(file, request);
}

/** scrypt's N with r = 8, p = 1: 128 MiB and about half a second. */
const newCost = 2 ** 17;

const fileNotice = (file: string): string =>
  `NOTICE: the key of this device's store lies in ${file}, readable by whoever reads that disk. ` +
  "No system keyring was used. For a device worth protecting, start over with " +
  "PIXIE_PASSPHRASE_FILE set to a file that holds a passphrase.";

async function keyOf(
  record: KeyRecord,
  request: StoreKeyRequest,
): Promise<Result<Uint8Array, StoreKeyError>> {
  const { source } = request;
  switch (record.source) {
    case "passphrase":
      return source.type === "passphrase"
        ? ok(await deriveKey(source.passphrase, record.salt, record.cost))
        : refuse(
            "passphrase-needed",
            "this store is protected by a passphrase: set PIXIE_PASSPHRASE_FILE to a file that holds it",
          );
    case "keyring":
      if (source.type === "passphrase") return mismatch("in the system keyring", "a passphrase");
      return source.type === "auto"
        ? keyFromKeyring(record.account, request)
        : mismatch("in the system keyring", "a key file");
    case "file":
      return source.type === "passphrase"
        ? mismatch(`in ${storeKeyFile}`, "a passphrase")
        : ok(record.key);
    default:
      return assertNever(record);
  }
}

async function keyFromKeyring(
  account: string,
  request: StoreKeyRequest,
): Promise<Result<Uint8Array, StoreKeyError>> {
  const keyring = await (request.keyring ?? systemKeyring)();
  let secret: Uint8Array | undefined;
  let reason = "it does not hold it, or is switched off";
  try {
    secret = await keyring?.read(account);
  } catch (cause) {
    reason = cause instanceof Error ? cause.message : String(cause);
  }
  if (secret?.length === keyBytes) return ok(secret);
  return refuse(
    "keyring-unavailable",
    `the key of this store is in the system keyring, which did not give it (${reason}): ` +
      "unlock the keyring, or run inside the desktop session that has it",
  );
}

async function createKey(
  file: string,
  request: StoreKeyRequest,
): Promise<Result<Uint8Array, StoreKeyError>> {
  const { source } = request;
  if (source.type === "passphrase") {
    const salt = randomBytes(saltBytes);
    writeKeyRecord(file, { source: "passphrase", salt: toBase64Url(salt), cost: newCost });
    return ok(await deriveKey(source.passphrase, salt, newCost));
  }
  const key = new Uint8Array(randomBytes(keyBytes));
  const account = source.type === "auto" ? await keepInKeyring(key, request) : undefined;
  if (account !== undefined) {
    writeKeyRecord(file, { source: "keyring", account });
    return ok(key);
  }
  writeKeyRecord(file, { source: "file", key: toBase64Url(key) });
  request.onNotice(fileNotice(file));
  return ok(key);
}

/** The account under which the keyring now holds the key and gives it back; else `undefined`. */
async function keepInKeyring(
  key: Uint8Array,
  request: StoreKeyRequest,
): Promise<string | undefined> {
  const keyring = await (request.keyring ?? systemKeyring)();
  if (keyring === undefined) return undefined;
  const account = toBase64Url(randomBytes(saltBytes));
  try {
    await keyring.write(account, key);
    const back = await keyring.read(account);
    return back !== undefined && equalBytes(back, key) ? account : undefined;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    request.onNotice(`the system keyring cannot be used: ${reason}`);
    return undefined;
  }
}

function deriveKey(passphrase: string, salt: Uint8Array, cost: number): Promise<Uint8Array> {
  // The same passphrase typed on two keyboards may differ in composition only.
  const typed = passphrase.normalize("NFKC");
  const options = { N: cost, r: 8, p: 1, maxmem: 256 * 8 * cost };
  return new Promise((resolve, reject) => {
    scrypt(typed, salt, keyBytes, options, (cause, key) => {
      if (cause === null) resolve(new Uint8Array(key));
      else reject(cause);
    });
  });
}

function mismatch(
  stored: string,
  given: string,
): { readonly ok: false; readonly error: StoreKeyError } {
  return refuse(
    "key-source-mismatch",
    `the key of this store is ${stored}, but ${given} was asked for: unset PIXIE_PASSPHRASE_FILE and PIXIE_KEYRING, or choose another --data-dir`,
  );
}

function refuse(
  type: StoreKeyError["type"],
  message: string,
): { readonly ok: false; readonly error: StoreKeyError } {
  return err({ type, message });
}
