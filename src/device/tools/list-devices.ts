/**
 * `list_devices`: the owner's devices as this one knows them, for find_file: ids, and the names that the
 * devices told each other.
 *
 * Spec: docs/sources.md "Devices".
 */
import { entriesResult } from "./cut.ts";
import { declarationOf, failure, type Tool } from "./tool.ts";

/** One of the owner's devices. */
export interface OwnedDevice {
  readonly deviceId: string;
  /** `undefined` until that device has told it. */
  readonly name: string | undefined;
  readonly thisDevice: boolean;
}

/** Builds the tool. `devices`: those that are not revoked, asked at every call. */
export function listDevices(devices: () => readonly OwnedDevice[]): Tool {
  return {
    declaration: declarationOf("list_devices"),
    run: async () => {
      const known = devices();
      if (known.length === 0) return failure("this device belongs to no account yet");
      const lines = known.map(({ deviceId, name, thisDevice }) =>
        [
          deviceId,
          // A name must not forge a second line.
          ...(name === undefined ? [] : [name.replace(/\p{Cc}/gu, "�")]),
          ...(thisDevice ? ["(this device)"] : []),
        ].join(" "),
      );
      return entriesResult(lines, { untrusted: false });
    },
  };
}
