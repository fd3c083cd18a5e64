/** The platform's clock, the clock of the tests, and waiting on either. */
import { describe, expect, it } from "vitest";
import { dayMs, dayOf, sleep, systemClock } from "../../src/shared/clock.ts";
import { createManualClock } from "../support/manual-clock.ts";

describe("days", () => {
  it("counts UTC days since 1970", () => {
    expect(dayOf(0)).toBe(0);
    expect(dayOf(dayMs - 1)).toBe(0);
    expect(dayOf(dayMs)).toBe(1);
    expect(dayOf(Date.UTC(2027, 0, 15, 23, 59))).toBe(20_833);
  });
});

describe("the manual clock", () => {
  it("runs timers in order of their time, and those that they set", async () => {
    const clock = createManualClock(1_000);
    const ran: string[] = [];
    clock.schedule(50, () => ran.push(`b@${clock.nowMs()}`));
    clock.schedule(10, () => {
      ran.push(`a@${clock.nowMs()}`);
      clock.schedule(5, () => ran.push(`c@${clock.nowMs()}`));
    });
    const cancel = clock.schedule(20, () => ran.push("cancelled"));
    cancel();
    await clock.advance(49);
    expect(ran).toEqual(["a@1010", "c@1015"]);
    await clock.advance(1);
    expect(ran).toEqual(["a@1010", "c@1015", "b@1050"]);
    expect(clock.pending()).toBe(0);
  });

  it("jumps without running anything", () => {
    const clock = createManualClock(0);
    let ran = false;
    clock.schedule(1, () => {
      ran = true;
    });
    clock.jump(100);
    expect([clock.nowMs(), ran, clock.pending()]).toEqual([100, false, 1]);
  });
});

describe("sleep", () => {
  it("resolves when the clock gets there", async () => {
    const clock = createManualClock();
    let awake = false;
    const slept = sleep(clock, 100).then(() => {
      awake = true;
      return awake;
    });
    await clock.advance(99);
    expect(awake).toBe(false);
    await clock.advance(1);
    expect(await slept).toBe(true);
  });

  it("rejects with the reason of its signal, before or while it sleeps", async () => {
    const clock = createManualClock();
    const reason = new Error("stop");
    await expect(sleep(clock, 10, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const slept = sleep(clock, 10, controller.signal);
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(clock.pending()).toBe(0);
  });

  it("works on the platform's clock", async () => {
    const before = systemClock.nowMs();
    const hold = setInterval(() => undefined, 1_000);
    await sleep(systemClock, 1);
    clearInterval(hold);
    expect(systemClock.nowMs()).toBeGreaterThanOrEqual(before);
    systemClock.schedule(1, () => expect.unreachable("cancelled"))();
  });
});
