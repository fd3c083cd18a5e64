/** Where the store's key comes from. No test here reaches a real keyring. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { storeKeyFile } from "../../../src/device/store/key-record.ts";
import { resolveStoreKey, type StoreKeySource } from "../../../src/device/store/key-source.ts";
import { type Keyring, systemKeyring } from "../../../src/device/store/keyring.ts";

let folder: string;
let notices: string[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-key-"));
  notices = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const record = (): string => path.join(folder, storeKeyFile);

interface Asking {
  readonly source?: StoreKeySource;
  readonly storeExists?: boolean;
  readonly keyring?: Keyring | undefined;
}

function resolve(asking: Asking = {}): ReturnType<typeof resolveStoreKey> {
  return resolveStoreKey({
    dataDir: folder,
    source: asking.source ?? { type: "auto" },
    storeExists: asking.storeExists ?? false,
    keyring: () => Promise.resolve(asking.keyring),
    onNotice: (notice) => notices.push(notice),
  });
}

async function key(asking: Asking = {}): Promise<Uint8Array> {
  const resolved = await resolve(asking);
  if (!resolved.ok) throw new Error(resolved.error.message);
  return resolved.value;
}

async function errorType(asking: Asking): Promise<string> {
  const resolved = await resolve(asking);
  return resolved.ok ? "ok" : resolved.error.type;
}

function memoryKeyring(secrets = new Map<string, Uint8Array>()): Keyring {
  return {
    read: (account) => Promise.resolve(secrets.get(account)),
    write: (account, secret) => Promise.resolve(void secrets.set(account, secret)),
    remove: (account) => Promise.resolve(void secrets.delete(account)),
  };
}

const brokenKeyring: Keyring = {
  read: () => Promise.reject(new Error("no session bus")),
  write: () => Promise.reject(new Error("no session bus")),
  remove: () => Promise.reject(new Error("no session bus")),
};

const passphrase = (text: string): StoreKeySource => ({ type: "passphrase", passphrase: text });

describe("key file", () => {
  it("is made when there is no keyring, 0600, with a loud notice, and gives the same key again", async () => {
    const first = await key();
    expect(first).toHaveLength(32);
    expect(statSync(record()).mode & 0o777).toBe(0o600);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain("NOTICE");
    expect(await key({ storeExists: true })).toEqual(first);
    expect(notices).toHaveLength(1);
  });

  it("never puts the key into a notice", async () => {
    await key();
    const key32 = /"key":"([^"]{43})"/.exec(readFileSync(record(), "utf8"))?.[1];
    expect(key32).toBeDefined();
    expect(notices.join()).not.toContain(key32);
  });

  it("is refused when others may read it, and says which mode", async () => {
    await key();
    chmodSync(record(), 0o640);
    expect(await resolve({ storeExists: true })).toMatchObject({
      error: { type: "key-file-permissions", message: expect.stringMatching(/0600, got 0640/) },
    });
  });

  it("is refused when it belongs to somebody else", async () => {
    await key();
    vi.spyOn(process, "getuid").mockReturnValue(4_242);
    expect(await errorType({ storeExists: true })).toBe("key-file-owner");
  });

  it.each(["", "{", "[]", "null", '{"source":"file","key":"AAAA"}', '{"source":"elsewhere"}'])(
    "is refused when it reads %j",
    async (text) => {
      writeFileSync(record(), text, { mode: 0o600 });
      expect(await errorType({ storeExists: true })).toBe("key-file-malformed");
    },
  );

  it("never makes a new key for a store that exists", async () => {
    expect(await errorType({ storeExists: true })).toBe("key-missing");
    expect(statSync(record(), { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("keyring", () => {
  it("keeps the key, leaves none on disk and gives it back", async () => {
    const keyring = memoryKeyring();
    const first = await key({ keyring });
    expect(notices).toEqual([]);
    expect(readFileSync(record(), "utf8")).not.toContain(Buffer.from(first).toString("base64url"));
    expect(await key({ keyring, storeExists: true })).toEqual(first);
  });

  it("falls back to a key file, loudly, when it cannot be reached", async () => {
    await key({ keyring: brokenKeyring });
    expect(notices.join("\n")).toMatch(/no session bus[\s\S]*NOTICE/);
  });

  it("does not take over a store whose key is in a file", async () => {
    const first = await key();
    expect(await key({ keyring: memoryKeyring(), storeExists: true })).toEqual(first);
  });

  it("is an error, not a new key, when it holds the key and cannot be reached", async () => {
    await key({ keyring: memoryKeyring() });
    expect(await errorType({ keyring: brokenKeyring, storeExists: true })).toBe(
      "keyring-unavailable",
    );
    expect(await errorType({ storeExists: true })).toBe("keyring-unavailable");
    expect(await errorType({ source: { type: "key-file" }, storeExists: true })).toBe(
      "key-source-mismatch",
    );
  });

  it("is left alone when PIXIE_KEYRING says off", async () => {
    vi.stubEnv("PIXIE_KEYRING", "off");
    expect(await systemKeyring()).toBeUndefined();
  });
});

describe("passphrase", () => {
  it("gives the same key for the same passphrase and another for another", async () => {
    const first = await key({ source: passphrase("correct horse") });
    expect(first).toHaveLength(32);
    expect(readFileSync(record(), "utf8")).not.toContain("horse");
    expect(await key({ source: passphrase("correct horse"), storeExists: true })).toEqual(first);
    expect(await key({ source: passphrase("correct hors"), storeExists: true })).not.toEqual(first);
  });

  it("does not mind how a keyboard composes an accent", async () => {
    const first = await key({ source: passphrase("caf\u00e9") });
    expect(await key({ source: passphrase("cafe\u0301"), storeExists: true })).toEqual(first);
  });

  it("is asked for by name when the store needs one", async () => {
    await key({ source: passphrase("x") });
    expect(await resolve({ storeExists: true })).toMatchObject({
      error: {
        type: "passphrase-needed",
        message: expect.stringContaining("PIXIE_PASSPHRASE_FILE"),
      },
    });
  });

  it("is refused when empty, and when the key is elsewhere", async () => {
    expect(await errorType({ source: passphrase("") })).toBe("passphrase-empty");
    await key();
    expect(await errorType({ source: passphrase("x"), storeExists: true })).toBe(
      "key-source-mismatch",
    );
  });
});
