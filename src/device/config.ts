/**
 * Where a device lives and how its store is opened, from flags and environment: flags win.
 *
 * It reads the passphrase file and nothing else; folder and key are judged when the store is opened.
 * Spec: docs/operating.md "Settings of a device".
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

import { err, ok, type Result } from "../shared/result.ts";

/** Settings of one device. `storeKey` is what `DeviceOptions` takes. */
export interface DeviceConfig {
  readonly dataDir: string;
  readonly storeKey:
    | { readonly type: "auto" }
    | { readonly type: "key-file" }
    | { readonly type: "passphrase"; readonly passphrase: string };
  readonly models: {
    readonly folder: string;
    /** Units: ms. */
    readonly idleMs: number;
    readonly env: Readonly<Record<string, string | undefined>>;
  };
}

/** A setting that was not understood. */
export interface DeviceConfigError {
  readonly type: "setting";
  readonly message: string;
}

/** Reads the settings. Errors: name the setting, what was expected and what it says. */
export function loadDeviceConfig(given: {
  readonly dataDir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Result<DeviceConfig, DeviceConfigError> {
  const dataDir = path.resolve(given.dataDir ?? dataDirOf(given.env));
  const models = modelsOf(given.env);
  if (!models.ok) return models;
  const keyring = given.env["PIXIE_KEYRING"];
  if (keyring !== undefined && !["", "on", "off"].includes(keyring)) {
    return refuse(`PIXIE_KEYRING: expected on or off, got ${JSON.stringify(keyring)}`);
  }
  const file = given.env["PIXIE_PASSPHRASE_FILE"];
  if (file !== undefined && file !== "") {
    const passphrase = readPassphrase(file);
    return passphrase.ok
      ? ok({
          dataDir,
          storeKey: { type: "passphrase", passphrase: passphrase.value },
          models: models.value,
        })
      : passphrase;
  }
  return ok({
    dataDir,
    storeKey: { type: keyring === "off" ? "key-file" : "auto" },
    models: models.value,
  });
}

/** A model without a question for so long leaves the memory. Units: minutes. */
const defaultIdleMinutes = 10;

function modelsOf(
  env: Readonly<Record<string, string | undefined>>,
): Result<DeviceConfig["models"], DeviceConfigError> {
  const typed = env["PIXIE_MODEL_IDLE_MINUTES"];
  const minutes = typed === undefined || typed === "" ? defaultIdleMinutes : Number(typed);
  if (!(minutes >= 0 && minutes <= 1_440)) {
    return refuse(
      `PIXIE_MODEL_IDLE_MINUTES: expected 0 (never) to 1440, got ${JSON.stringify(typed)}`,
    );
  }
  const own = env["PIXIE_MODEL_DIR"];
  const folder = own === undefined || own === "" ? path.join(dataHome(env), "models") : own;
  return ok({ folder: path.resolve(folder), idleMs: minutes * 60_000, env });
}

function dataDirOf(env: Readonly<Record<string, string | undefined>>): string {
  const own = env["PIXIE_DATA_DIR"];
  if (own !== undefined && own !== "") return own;
  return path.join(dataHome(env), "device");
}

/** The folder of all that pixie keeps for this person. */
function dataHome(env: Readonly<Record<string, string | undefined>>): string {
  const xdg = env["XDG_DATA_HOME"];
  // The XDG specification says to ignore a relative path.
  const base =
    xdg !== undefined && path.isAbsolute(xdg)
      ? xdg
      : path.join(env["HOME"] ?? homedir(), ".local", "share");
  return path.join(base, "pixie");
}

function readPassphrase(file: string): Result<string, DeviceConfigError> {
  try {
    // Editors end a file with a line break that nobody means as part of the secret.
    return ok(readFileSync(file, "utf8").replace(/\r?\n$/, ""));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    return refuse(
      `PIXIE_PASSPHRASE_FILE: expected a readable file with the passphrase, got ${file} (${code})`,
    );
  }
}

function refuse(message: string): {
  readonly ok: false;
  readonly error: DeviceConfigError;
} {
  return err({ type: "setting", message });
}
