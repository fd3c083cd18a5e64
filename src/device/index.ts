/**
 * Public entry of the device: `createDevice()` for programs that run a device in their own process.
 * The daemon and the command line are built on the same.
 */
export type { Device, DeviceError, DeviceEvent, DeviceOptions } from "./device.ts";
export { createDevice, defaultDelays } from "./runtime.ts";
