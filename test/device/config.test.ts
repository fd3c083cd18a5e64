/** Settings of a device: what wins, and what is refused by name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { loadDeviceConfig } from "../../src/device/config.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "pixie-config-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const dataDir = (env: Readonly<Record<string, string>>, flag?: string): string | undefined => {
  const loaded = loadDeviceConfig({ dataDir: flag, env });
  return loaded.ok ? loaded.value.dataDir : undefined;
};

describe("data folder", () => {
  it("flag before environment before XDG before home", () => {
    const env = { HOME: "/home/a", XDG_DATA_HOME: "/xdg", PIXIE_DATA_DIR: "/own" };
    expect(dataDir(env, "/flag")).toBe("/flag");
    expect(dataDir(env)).toBe("/own");
    expect(dataDir({ HOME: "/home/a", XDG_DATA_HOME: "/xdg" })).toBe("/xdg/pixie/device");
    expect(dataDir({ HOME: "/home/a" })).toBe("/home/a/.local/share/pixie/device");
  });

  it("empty variables count as unset, and a relative XDG folder is ignored", () => {
    expect(dataDir({ HOME: "/home/a", PIXIE_DATA_DIR: "", XDG_DATA_HOME: "relative" })).toBe(
      "/home/a/.local/share/pixie/device",
    );
  });

  it("is absolute, whatever is given", () => {
    expect(path.isAbsolute(dataDir({}, "here") ?? "")).toBe(true);
  });
});

const keyOf = (env: Readonly<Record<string, string>>): unknown => {
  const loaded = loadDeviceConfig({ dataDir: "/x", env });
  return loaded.ok ? loaded.value.storeKey : loaded.error;
};

describe("key of the store", () => {
  it("is automatic, a key file without keyring, or a passphrase", () => {
    const file = path.join(folder, "passphrase");
    writeFileSync(file, " correct horse \r\n");
    expect(keyOf({})).toEqual({ type: "auto" });
    expect(keyOf({ PIXIE_KEYRING: "on" })).toEqual({ type: "auto" });
    expect(keyOf({ PIXIE_KEYRING: "off" })).toEqual({ type: "key-file" });
    expect(keyOf({ PIXIE_PASSPHRASE_FILE: file, PIXIE_KEYRING: "off" })).toEqual({
      type: "passphrase",
      passphrase: " correct horse ",
    });
  });

  it("refuses what it does not understand, by name", () => {
    expect(keyOf({ PIXIE_KEYRING: "no" })).toMatchObject({
      type: "setting",
      message: expect.stringContaining("PIXIE_KEYRING"),
    });
    expect(keyOf({ PIXIE_PASSPHRASE_FILE: path.join(folder, "absent") })).toMatchObject({
      type: "setting",
      message: expect.stringMatching(/PIXIE_PASSPHRASE_FILE.*ENOENT/),
    });
  });
});
