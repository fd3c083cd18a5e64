import { describe, expect, it } from "vitest";

import { DeliveryWindow, itemBytes } from "../../../src/relay/delivery/window.ts";
import { windowBytes } from "../../../src/shared/limits.ts";

describe("the window", () => {
  it("R57: holds numbers and sizes, and is open while any next item fits", () => {
    const window = new DeliveryWindow();
    for (let seq = 1; window.isOpen; seq++) window.add({ seq, day: 1, bytes: itemBytes(4) });
    expect([window.items, window.bytes <= windowBytes]).toEqual([3, true]);
    window.finish(window.beginAcknowledging([1, 2, 3]));
    expect([window.items, window.bytes]).toEqual([0, 0]);
  });
});
