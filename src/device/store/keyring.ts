/**
 * The operating system's keyring as a port, so that the key source can be tested without one and
 * runs where the optional module is missing.
 *
 * On Linux only the Secret Service counts: the module's own fallback, the kernel keyring, forgets
 * everything at a reboot, and with it the key of the store. Loaded lazily.
 */
import type { AsyncEntry } from "@napi-rs/keyring";

/** Secrets of one user, by account name. Calls throw when the keyring cannot be reached. */
export interface Keyring {
  readonly read: (account: string) => Promise<Uint8Array | undefined>;
  readonly write: (account: string, secret: Uint8Array) => Promise<void>;
  readonly remove: (account: string) => Promise<void>;
}

const service = "pixie-device";

/** An unlock dialog may wait for a person this long. Units: ms. */
const patienceMs = 60_000;

/**
 * The system's keyring; `undefined` when the optional module does not load on this machine, or when
 * the environment says PIXIE_KEYRING=off.
 */
export async function systemKeyring(): Promise<Keyring | undefined> {
  if (process.env["PIXIE_KEYRING"] === "off") return undefined;
  const entryClass = await loadEntryClass();
  if (entryClass === undefined) return undefined;
  const entry = (account: string): AsyncEntry =>
    new entryClass(service, account, { linux: { store: "secret-service" } });
  return {
    read: async (account) => {
      const secret = await entry(account).getSecret(AbortSignal.timeout(patienceMs));
      return secret === null ? undefined : Uint8Array.from(secret);
    },
    write: async (account, secret) => {
      await entry(account).setSecret(secret, AbortSignal.timeout(patienceMs));
    },
    remove: async (account) => {
      await entry(account).deleteCredential();
    },
  };
}

async function loadEntryClass(): Promise<typeof AsyncEntry | undefined> {
  try {
    return (await import("@napi-rs/keyring")).AsyncEntry;
  } catch {
    // An optional dependency: no build for this platform is an ordinary answer.
    return undefined;
  }
}
