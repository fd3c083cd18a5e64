/**
 * A relay and people's devices on it, in one process: for end-to-end and crash tests and benches.
 * It needs no test runner.
 *
 * Delays that hide people's habits are zero, everything else is as in the product.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createDevice } from "../../src/device/index.ts";
import type { Device, DeviceError, DeviceOptions } from "../../src/device/device.ts";
import { createRelay, defaultConfig, type Relay } from "../../src/relay/index.ts";
import type { Result } from "../../src/shared/result.ts";

/** No hiding: a test waits for nobody. */
export const noDelays = { echoMs: [0, 0], receiptMs: [0, 0], resendMs: [0, 0] } as const;

/** A bound that only a broken test reaches. Units: ms. */
const patienceMs = 20_000;

/** The value of a Result. Throws the error's words. */
export function expectOk<T>(result: Result<T, DeviceError>): T {
  if (!result.ok) throw new Error(`${result.error.type}: ${result.error.message}`);
  return result.value;
}

/** A device without an account, in memory unless told otherwise. */
export async function openDevice(options: Partial<DeviceOptions> = {}): Promise<Device> {
  const place = options.dataDir === undefined ? { inMemory: true } : {};
  return expectOk(await createDevice({ ...place, delays: noDelays, ...options }));
}

/** A person with one device that is registered, connected and settled. */
export async function newPerson(
  relayUrl: string,
  name: string,
  options: Partial<DeviceOptions> = {},
): Promise<Device> {
  const device = await openDevice(options);
  const deviceName = `${name}'s laptop`;
  expectOk(await device.register({ relayUrl, accountName: name, deviceName }));
  expectOk(device.start());
  await settled(device);
  return device;
}

/** Waits until devices have caught up with each other. Fails when one does not. */
export async function settled(...devices: readonly Device[]): Promise<void> {
  // What one sends may be due at another: two rounds of looking, until all agree.
  for (let round = 0; round < 2; round++) {
    for (const device of devices) {
      if ((await device.settle(patienceMs)) === "bound") {
        throw new Error(`a device did not settle: ${JSON.stringify(device.status())}`);
      }
    }
  }
}

/** Resolves once `condition` holds, looking after every event of the devices. */
export async function until(
  devices: Device | readonly Device[],
  what: string,
  condition: () => boolean,
): Promise<void> {
  if (condition()) return;
  await new Promise<void>((resolve, reject) => {
    const stops: (() => void)[] = [];
    const end = (outcome: () => void): void => {
      clearTimeout(timer);
      for (const stop of stops) stop();
      outcome();
    };
    const timer = setTimeout(() => end(() => reject(new Error(`never: ${what}`))), patienceMs);
    for (const device of [devices].flat()) {
      stops.push(
        device.onEvent(() => {
          if (condition()) end(resolve);
        }),
      );
    }
  });
}

/** Makes two people contacts: one invites, the other accepts, both know each other's keys. */
export async function befriend(inviter: Device, guest: Device): Promise<void> {
  const { link } = expectOk(await inviter.invite());
  expectOk(await guest.acceptInvite(link));
  await until(
    [inviter, guest],
    "both are contacts",
    () => isContact(inviter, guest) && isContact(guest, inviter),
  );
  await settled(inviter, guest);
}

/** Links a second device to a person's first one. */
export async function linkDevice(
  admin: Device,
  deviceName: string,
  options: Partial<DeviceOptions> = {},
): Promise<Device> {
  const device = await openDevice(options);
  const relayUrl = admin.identity()?.relayOrigin ?? "";
  const offer = expectOk(await device.offerLink({ relayUrl, deviceName }));
  const grant = expectOk(await admin.grantLink(offer.code));
  expectOk(await offer.admitted);
  expectOk(await offer.enterDigits(grant.digits));
  expectOk(device.start());
  expectOk(await grant.completed);
  await settled(admin, device);
  return device;
}

/** Alice and Bob, contacts of each other, on a relay of their own. */
export interface Pair {
  readonly relay: Relay;
  readonly alice: Device;
  readonly bob: Device;
  /** Closes devices and relay, and removes the relay's folder. */
  readonly close: () => Promise<void>;
}

/** What a pair may differ in. `bobFolder` keeps Bob on disk; without `databaseUrl` the relay's own. */
export interface PairOptions {
  readonly bobFolder?: string;
  readonly bobKey?: string;
  readonly databaseUrl?: string;
}

/** Starts a relay and two people on it. */
export async function startPair(options: PairOptions = {}): Promise<Pair> {
  const { bobFolder: dataDir, bobKey: passphrase, databaseUrl } = options;
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-pair-"));
  const relay = await createRelay({
    config: {
      ...defaultConfig,
      dataDir: folder,
      port: 0,
      logLevel: "silent",
      ...unlimited,
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    },
  });
  if (!relay.ok) throw new Error(relay.error.message);
  const alice = await newPerson(relay.value.url, "Alice");
  const bob = await newPerson(relay.value.url, "Bob", {
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(passphrase === undefined ? {} : { storeKey: { type: "passphrase", passphrase } }),
  });
  await befriend(alice, bob);
  return {
    relay: relay.value,
    alice,
    bob,
    close: async () => {
      await Promise.all([alice.close(), bob.close()]);
      await relay.value.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One machine plays everyone: limits per address would only measure themselves. */
const unlimited = { addressRequestsPerMinute: 10_000_000, mailboxUploadsPerMinute: 10_000_000 };

/** Texts of a conversation, oldest first. */
export function texts(device: Device, contact?: string): readonly string[] {
  return expectOk(device.messages(contact)).map((message) => message.text);
}

function isContact(device: Device, other: Device): boolean {
  const aik = other.identity()?.aik;
  return device.contacts().some((person) => person.aik === aik && person.relation === "contact");
}
