/**
 * One command's access to the device: through the daemon when one runs, else by opening the store
 * in this process for as long as the command takes. Both answer alike, because both perform from the
 * same table.
 *
 * It prints nothing and asks nobody. Spec: docs/operating.md "Commands without a daemon".
 */
import { existsSync } from "node:fs";
import path from "node:path";

import { type Clock, sleep } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { DeviceConfig } from "../config.ts";
import type { Device, DeviceError, DeviceOptions } from "../device.ts";
import { storeKeyFile } from "../store/key-record.ts";
import { type DaemonClient, findDaemon } from "./client.ts";
import { createPerformer, type Performer } from "./perform.ts";

/** Opens a device; the runtime's `createDevice`. */
export type OpenDevice = (options: DeviceOptions) => Promise<Result<Device, DeviceError>>;

/** What a session is made of. */
export interface SessionParts {
  readonly openDevice: OpenDevice;
  readonly clock: Clock;
  readonly config: DeviceConfig;
  readonly onNotice: (notice: string) => void;
}

/** Access to a device. Disposing it closes what it opened. */
export interface Session extends AsyncDisposable {
  readonly call: Performer["perform"];
  /** The daemon's process, or `undefined` when this process opened the store. */
  readonly daemonPid: number | undefined;
}

/** Another command may hold the folder for a moment: this long is waited for it. Units: ms. */
const lockPatienceMs = 10_000;
const lockRetryMs = 100;
/** Bound for catching up before, and for handing over after, a command without a daemon. Units: ms. */
export const settleMs = 15_000;

/**
 * Opens a session for a device that has an account. `connect` catches up with the relay first, or
 * lets the daemon do so. Errors: no account here, the folder is held, the store does not open.
 */
export async function openSession(
  parts: SessionParts,
  { connect }: { readonly connect: boolean },
): Promise<Result<Session, DeviceError>> {
  const { dataDir } = parts.config;
  if (!holdsStore(dataDir)) return err(noAccount(dataDir));
  const opened = await daemonOrDevice(parts);
  if (!opened.ok) return opened;
  if (opened.value.type === "daemon") {
    const { call, pid } = opened.value.client;
    const status = await call("status", {});
    if (!status.ok) return status;
    if (connect && hopeful.has(status.value.connection))
      await call("settle", { boundMs: settleMs });
    return ok({ call, daemonPid: pid, [Symbol.asyncDispose]: () => Promise.resolve() });
  }
  const { device } = opened.value;
  const ready =
    device.identity() === undefined ? err(noAccount(dataDir)) : await caughtUp(device, connect);
  if (!ready.ok) {
    await device.close();
    return ready;
  }
  return ok({
    call: createPerformer(device).perform,
    daemonPid: undefined,
    [Symbol.asyncDispose]: () => device.close(),
  });
}

/** Opens the device itself, for what no daemon can do: making an account, or joining one. */
export async function openAlone(parts: SessionParts): Promise<Result<Device, DeviceError>> {
  const opened = await daemonOrDevice(parts);
  if (!opened.ok) return opened;
  return opened.value.type === "device"
    ? ok(opened.value.device)
    : err({
        type: "already-registered",
        message: `a daemon (process ${opened.value.client.pid}) runs for ${parts.config.dataDir}: it has an account already`,
      });
}

type Opened =
  | { readonly type: "daemon"; readonly client: DaemonClient }
  | { readonly type: "device"; readonly device: Device };

async function daemonOrDevice(parts: SessionParts): Promise<Result<Opened, DeviceError>> {
  const { clock, config, onNotice } = parts;
  const deadline = clock.nowMs() + lockPatienceMs;
  for (;;) {
    const daemon = await findDaemon(config.dataDir);
    if (!daemon.ok) return daemon;
    if (daemon.value !== undefined) return ok({ type: "daemon", client: daemon.value });
    const device = await parts.openDevice({ ...config, clock, onNotice });
    if (device.ok) return ok({ type: "device", device: device.value });
    // Held by a command that is about to end, or by a daemon that is about to listen.
    if (device.error.type !== "locked" || clock.nowMs() >= deadline) return device;
    await sleep(clock, lockRetryMs);
  }
}

/** Catches up with the relay, unless that is not wanted or the relay cannot be reached. */
async function caughtUp(device: Device, connect: boolean): Promise<Result<undefined, DeviceError>> {
  if (!connect) return ok(undefined);
  const lost = new AbortController();
  const stopListening = device.onEvent((event) => {
    if (event.type === "connection" && !hopeful.has(event.state)) lost.abort();
  });
  const givenUp = new Promise((resolve) => lost.signal.addEventListener("abort", resolve));
  const started = device.start();
  if (started.ok) await Promise.race([device.settle(settleMs), givenUp]);
  stopListening();
  return started;
}

const hopeful: ReadonlySet<string> = new Set(["connecting", "ready"]);

/** Whether a device was ever opened in that folder. Asked before opening, which would make one. */
export function holdsStore(dataDir: string): boolean {
  return existsSync(path.join(dataDir, storeKeyFile));
}

/** The refusal of a folder without an account. */
export function noAccount(dataDir: string): DeviceError {
  return {
    type: "no-such-account",
    message: `${dataDir} holds no account yet: run pixie device init, or pixie device link to join one`,
  };
}
