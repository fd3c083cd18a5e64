/**
 * Devices for the demo: opening them on a folder each, and waiting until something is so. Waiting is
 * driven by the device's own events and has a bound; nothing sleeps.
 */
import path from "node:path";
import { modelCache } from "../scripts/models/cache.ts";
import type { Device, DeviceError } from "../src/device/device.ts";
import { createDevice } from "../src/device/index.ts";
import type { Result } from "../src/shared/result.ts";

const boundMs = 30_000;

/** Opens a device on its own folder. Delays that hide activity are off, so that the demo is quick. */
export async function openDevice(folder: string, name: string): Promise<Device> {
  return valueOf(
    await createDevice({
      dataDir: path.join(folder, name),
      storeKey: { type: "passphrase", passphrase: "demo only" },
      delays: { echoMs: [0, 0], receiptMs: [0, 0] },
      // Where npm run models puts them: nothing is loaded unless a chapter uses one.
      models: { folder: modelCache() },
      onNotice: (notice) => process.stderr.write(`${name}: ${notice}\n`),
    }),
  );
}

/** The value of a result that must be a success here. */
export function valueOf<T>(result: Result<T, DeviceError>): T {
  if (!result.ok) throw new Error(`${result.error.type}: ${result.error.message}`);
  return result.value;
}

/** Waits until `look` finds something, looking again at every event of the device. */
export function until<T>(device: Device, what: string, look: () => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      const found = look();
      if (found === undefined) return;
      finish();
      resolve(found);
    };
    const unsubscribe = device.onEvent(check);
    const timer = setTimeout(() => {
      finish();
      reject(new Error(`waited ${boundMs / 1000} s in vain for: ${what}`));
    }, boundMs);
    const finish = (): void => {
      clearTimeout(timer);
      unsubscribe();
    };
    check();
  });
}
