/**
 * Waiting until a device has caught up: everything the relay had queued is journalled and
 * acknowledged, and nothing that is due waits to be sent. What has to wait by itself (a contact
 * without a key, an echo that is not due yet) does not count.
 */
import type { DeviceParts } from "./parts.ts";

/** Resolves when the device has caught up, or at the bound. Units: ms. */
export async function settle(parts: DeviceParts, boundMs: number): Promise<"settled" | "bound"> {
  const { clock } = parts;
  const deadlineMs = clock.nowMs() + boundMs;
  while (!isSettled(parts)) {
    if (clock.nowMs() >= deadlineMs) return "bound";
    await changeOrBound(parts, deadlineMs - clock.nowMs());
  }
  return "settled";
}

function isSettled({ connection, inbox, pump, background }: DeviceParts): boolean {
  const caughtUp = !connection.started() || connection.drained();
  return caughtUp && !inbox.busy() && !pump.busy() && !background.busy();
}

/** Woken by a change; the bound alone ends the wait when nothing changes. */
function changeOrBound({ clock, background }: DeviceParts, boundMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(boundMs, resolve);
    background
      .nextChange()
      .then(() => {
        cancel();
        resolve();
      })
      .catch(reject);
  });
}
