/**
 * From a data folder to an open store: check the folder, lock it, find the key, open and migrate.
 * In this order, so that whatever fails has changed nothing.
 *
 * Spec: docs/operating.md "Data folder".
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { ok, type Result } from "../../shared/result.ts";
import { type DataFolderError, prepareDataFolder } from "./data-folder.ts";
import { resolveStoreKey, type StoreKeyError, type StoreKeySource } from "./key-source.ts";
import { lockDataFolder, type LockError } from "./lock.ts";
import { type DeviceStore, openDeviceStore } from "./sqlite.ts";
import type { StoreError } from "./store-error.ts";

export type OpenFolderError = DataFolderError | LockError | StoreKeyError | StoreError;

/** An open store and everything that is held for it. Closing releases it all; twice is harmless. */
export interface OpenStore {
  readonly store: DeviceStore;
  readonly close: () => void;
}

/** File name of the store in its folder. */
const storeFile = "device.db";

/** Opens the store of a data folder. */
export async function openDataFolder(options: {
  readonly dataDir: string;
  readonly keySource: StoreKeySource;
  readonly onNotice: (notice: string) => void;
}): Promise<Result<OpenStore, OpenFolderError>> {
  const { dataDir, keySource: source, onNotice } = options;
  const prepared = prepareDataFolder(dataDir);
  if (!prepared.ok) return prepared;
  const lock = lockDataFolder(dataDir);
  if (!lock.ok) return lock;
  const file = path.join(dataDir, storeFile);
  const storeExists = existsSync(file);
  const key = await resolveStoreKey({ dataDir, source, storeExists, onNotice });
  const opened = key.ok ? openDeviceStore({ path: file, key: key.value }) : key;
  if (!opened.ok) {
    lock.value.release();
    return opened;
  }
  const store = opened.value;
  const close = (): void => {
    store.close();
    lock.value.release();
  };
  return ok({ store, close });
}

/** Opens a store that lives in memory and is gone when it is closed. */
export function openInMemory(): Result<OpenStore, StoreError> {
  const opened = openDeviceStore({ path: ":memory:", key: new Uint8Array(32) });
  return opened.ok ? ok({ store: opened.value, close: opened.value.close }) : opened;
}
