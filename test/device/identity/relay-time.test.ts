import { describe, expect, it } from "vitest";
import { createRelayTime } from "../../../src/device/identity/relay-time.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { memoryStore } from "./identity-world.ts";

const [here, there] = ["https://a.example", "https://b.example"];

describe("relay time", () => {
  it("is the local clock until a relay has answered, then that relay's", async () => {
    using store = memoryStore();
    const clock = createManualClock(1_000_000);
    const time = createRelayTime(clock, store);
    expect(time.nowMs(here)).toBe(1_000_000);
    time.learn(here, 1_500_000);
    expect(time.nowMs(here)).toBe(1_500_000);
    expect(time.offsetMs(here)).toBe(500_000);
    expect(time.nowMs(there)).toBe(1_000_000);
    await clock.advance(2_500);
    expect(time.nowMs(here)).toBe(1_502_500);
  });

  it("survives a restart, and small drifts cost no write", () => {
    using store = memoryStore();
    const clock = createManualClock(1_000_000);
    const time = createRelayTime(clock, store);
    time.learn(here, 400_000);
    time.learn(here, 404_999);
    expect(time.offsetMs(here)).toBe(-595_001);
    expect(createRelayTime(clock, store).offsetMs(here)).toBe(-600_000);
    time.learn(here, 405_000);
    expect(createRelayTime(clock, store).offsetMs(here)).toBe(-595_000);
  });

  it("R47: follows the relay when the local clock is set", () => {
    using store = memoryStore();
    const clock = createManualClock(1_000_000);
    const time = createRelayTime(clock, store);
    time.learn(here, 1_000_000);
    clock.jump(90_000_000_000);
    time.learn(here, 1_000_500);
    expect(time.nowMs(here)).toBe(1_000_500);
  });

  it("is whole milliseconds, since days and tokens are made from it", () => {
    using store = memoryStore();
    const time = createRelayTime(createManualClock(10), store);
    time.learn(here, 10.4);
    expect(Number.isInteger(time.nowMs(here))).toBe(true);
  });
});
