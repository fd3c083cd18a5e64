/**
 * `pixie device run`: one process that keeps a device connected and serves the local API until it is
 * told to stop. Owns the order of start and stop; what a device does is in runtime.ts.
 *
 * Spec: docs/operating.md "The daemon".
 */
import { systemClock } from "../shared/clock.ts";
import { err, ok, type Result } from "../shared/result.ts";
import { softwareVersion } from "../shared/wire/version.ts";
import { serveApi } from "./api/server.ts";
import { holdsStore, noAccount, type OpenDevice } from "./api/session.ts";
import type { DeviceConfig } from "./config.ts";
import type { DeviceError, DeviceEvent, Identity } from "./device.ts";
import { createDevice } from "./runtime.ts";

/** Opens a device over the store of a folder. */
export const openDevice: OpenDevice = createDevice;

/** What the daemon is run with. */
export interface DaemonParts {
  readonly config: DeviceConfig;
  readonly openDevice: OpenDevice;
  /** Resolves when the daemon shall stop. */
  readonly stop: Promise<unknown>;
  /** Runs once the device works and the socket listens. */
  readonly onReady: (ready: DaemonReady) => void;
  readonly onEvent: (event: DeviceEvent) => void;
  readonly onNotice: (notice: string) => void;
}

/** The daemon's first line. */
export interface DaemonReady {
  readonly ready: true;
  readonly identity: Identity;
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
}

/** Runs until `stop`. Errors: no account here, the folder is held, the store does not open. */
export async function runDaemon(parts: DaemonParts): Promise<Result<undefined, DeviceError>> {
  const { config, onNotice } = parts;
  if (!holdsStore(config.dataDir)) return err(noAccount(config.dataDir));
  const opened = await parts.openDevice({ ...config, clock: systemClock, onNotice });
  if (!opened.ok) return opened;
  await using device = opened.value;
  const identity = device.identity();
  if (identity === undefined) return err(noAccount(config.dataDir));
  const unsubscribe = device.onEvent(parts.onEvent);
  const started = device.start();
  if (!started.ok) return started;
  // Only a process that stays works for other devices: a command would leave their questions half done.
  device.homebase.serve();
  device.sources.watchFiles();
  // Leaves before the device does: no client meets a closed store.
  await using api = await serveApi(device, config.dataDir);
  parts.onReady({
    ready: true,
    identity,
    socket: api.socketPath,
    pid: process.pid,
    version: softwareVersion,
  });
  await parts.stop;
  unsubscribe();
  return ok(undefined);
}
