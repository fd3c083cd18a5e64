/** list_devices: what the agent is told about the owner's devices. */
import { expect, it } from "vitest";

import { listDevices, type OwnedDevice } from "../../../src/device/tools/list-devices.ts";
import type { ToolResult } from "../../../src/device/tools/tool.ts";

const { signal } = new AbortController();
const list = (devices: readonly OwnedDevice[]): Promise<ToolResult> =>
  listDevices(() => devices).run({}, { nowMs: 0, zone: "UTC", signal });

it("names devices by id, and this one by name, one a line", async () => {
  const devices = [
    { deviceId: "D1", name: "laptop", thisDevice: true },
    { deviceId: "D2", name: undefined, thisDevice: false },
  ];
  expect(await list(devices)).toEqual({
    ok: true,
    text: "D1 laptop (this device)\nD2",
    entries: ["D1 laptop (this device)", "D2"],
    shown: 2,
    total: 2,
    untrusted: false,
  });
});

it("a device without an account says so", async () => {
  const refused = await list([]);
  expect(!refused.ok && refused.reason).toContain("no account");
});
