/**
 * The stage of an end-to-end test file: a relay on a database of its own for all its tests, and devices
 * that are closed after each. Call it once, at the top of the file.
 */
import { afterAll, afterEach, beforeAll } from "vitest";

import type { Device, DeviceOptions } from "../../src/device/device.ts";
import type { Relay } from "../../src/relay/index.ts";
import { expectOk, linkDevice, newPerson, openDevice, settled } from "./pair.ts";
import { openTestDatabase, type TestDatabase } from "./postgres.ts";
import { startRelay } from "./relay.ts";

/** Somebody who wrote the recovery code down. */
export interface Owner {
  readonly device: Device;
  readonly recoveryCode: string;
}

export interface Stage {
  readonly relay: () => Relay;
  readonly database: () => TestDatabase;
  /** A device without an account. */
  readonly device: (options?: Partial<DeviceOptions>) => Promise<Device>;
  /** A person with one device that is registered, connected and settled. */
  readonly person: (name: string, options?: Partial<DeviceOptions>) => Promise<Device>;
  /** The same, with the recovery code. */
  readonly owner: (name: string, options?: Partial<DeviceOptions>) => Promise<Owner>;
  /** A second device, linked to the first. */
  readonly sibling: (
    admin: Device,
    deviceName: string,
    options?: Partial<DeviceOptions>,
  ) => Promise<Device>;
  /** A fresh device that joins with the recovery code, as an admin. */
  readonly recovered: (
    recoveryCode: string,
    wishes?: { readonly deviceName?: string; readonly revokeOthers?: boolean },
  ) => Promise<Device>;
}

/** Sets the stage. */
export function setStage(): Stage {
  let database: TestDatabase;
  let relay: Relay;
  const open: Device[] = [];
  beforeAll(async () => {
    database = await openTestDatabase();
    relay = await startRelay({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((device) => device.close()));
  });
  afterAll(async () => {
    await relay.close();
    await database.drop();
  });

  const closing = async (opening: Promise<Device>): Promise<Device> => {
    const device = await opening;
    open.push(device);
    return device;
  };
  const device: Stage["device"] = (options) => closing(openDevice(options));
  return {
    relay: () => relay,
    database: () => database,
    device,
    person: (name, options) => closing(newPerson(relay.url, name, options)),
    owner: async (accountName, options) => {
      const first = await device(options);
      const wishes = { relayUrl: relay.url, accountName, deviceName: "old laptop" };
      const { recoveryCode } = expectOk(await first.register(wishes));
      expectOk(first.start());
      await settled(first);
      return { device: first, recoveryCode };
    },
    sibling: (admin, deviceName, options) => closing(linkDevice(admin, deviceName, options)),
    recovered: async (recoveryCode, { deviceName = "new phone", revokeOthers = false } = {}) => {
      const fresh = await device();
      const wishes = { recoveryCode, accountName: "Alice", deviceName, revokeOthers };
      expectOk(await fresh.recover(wishes));
      expectOk(fresh.start());
      await settled(fresh);
      return fresh;
    },
  };
}
