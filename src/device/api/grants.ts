/**
 * Links that an admin device is granting. Showing the digits and waiting until the new device has
 * them are two requests, so the grant is kept here between them, under a name of its own.
 *
 * Bound: four at a time; a settled one makes room. Spec: docs/operating.md "Local API".
 */
import { idText, randomId } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { systemRng } from "../../shared/rng.ts";
import type { Device, DeviceError, DeviceView, LinkGrant } from "../device.ts";

/** The grants of one device. */
export interface Grants {
  readonly begin: (
    code: string,
  ) => Promise<
    Result<
      { readonly grant: string; readonly digits: string; readonly newDeviceName: string },
      DeviceError
    >
  >;
  /** Waits for the other device, and then forgets the grant. */
  readonly completed: (grant: string) => Promise<Result<DeviceView, DeviceError>>;
  readonly cancel: (grant: string) => Promise<Result<undefined, DeviceError>>;
}

const maxGrants = 4;

/** No grants yet. */
export function createGrants(device: Pick<Device, "grantLink">): Grants {
  const open = new Map<string, LinkGrant>();
  const settled = new Set<string>();
  // A settled grant waits for whoever asks for its result, until another one needs the room.
  const makeRoom = (): void => {
    for (const grant of settled) {
      if (open.size < maxGrants) return;
      open.delete(grant);
      settled.delete(grant);
    }
  };
  return {
    begin: async (code) => {
      makeRoom();
      if (open.size >= maxGrants) {
        return err({
          type: "too-many-grants",
          message: `${maxGrants} links are being granted: finish or cancel one first`,
        });
      }
      const granted = await device.grantLink(code);
      if (!granted.ok) return granted;
      const grant = idText(randomId(systemRng));
      open.set(grant, granted.value);
      void granted.value.completed.then(() => settled.add(grant));
      const { digits, newDeviceName } = granted.value;
      return ok({ grant, digits, newDeviceName });
    },
    completed: async (grant) => {
      const granted = open.get(grant);
      if (granted === undefined) return err(noSuchGrant);
      const result = await granted.completed;
      open.delete(grant);
      settled.delete(grant);
      return result;
    },
    cancel: async (grant) => {
      const granted = open.get(grant);
      if (granted === undefined) return err(noSuchGrant);
      open.delete(grant);
      settled.delete(grant);
      await granted.cancel();
      return ok(undefined);
    },
  };
}

const noSuchGrant: DeviceError = {
  type: "no-such-grant",
  message: "no link of that name is being granted: start again with the code",
};
