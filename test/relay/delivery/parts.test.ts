import { describe, expect, it } from "vitest";

import { BatcherFullError, createBatcher } from "../../../src/relay/delivery/batcher.ts";
import { createExpiry } from "../../../src/relay/delivery/expire.ts";
import { createRateLimit } from "../../../src/relay/delivery/rate-limit.ts";
import { anyPosition, createWakeups } from "../../../src/relay/delivery/wakeup.ts";
import { laneOf } from "../../../src/relay/store/lane.ts";
import { dayMs, dayOf } from "../../../src/shared/clock.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newId } from "../../support/mailboxes.ts";

describe("the batcher", () => {
  it("runs at once when idle, batches what comes meanwhile, and keeps strangers apart", async () => {
    const batches: number[][] = [];
    const ask = createBatcher<number, number>({
      run: async (requests) => {
        batches.push([...requests]);
        await Promise.resolve();
        return requests.map((request) => request * 10);
      },
      maxBatch: 3,
      maxWaiting: 10,
      together: (first, next) => first % 2 === next % 2,
    });
    const replies = await Promise.all([1, 3, 5, 7, 9, 2, 4].map(ask));
    expect(replies).toEqual([10, 30, 50, 70, 90, 20, 40]);
    expect(batches).toEqual([[1], [3, 5, 7], [9], [2, 4]]);
  });

  it("rejects a failed batch only, and more than may wait", async () => {
    const ask = createBatcher<number, number>({
      run: async (requests) => {
        if (requests.includes(1)) throw new Error("one");
        return requests;
      },
      maxBatch: 1,
      maxWaiting: 1,
    });
    const [first, second, third] = [ask(1), ask(2), ask(3)];
    await expect(third).rejects.toBeInstanceOf(BatcherFullError);
    await expect(first).rejects.toThrow("one");
    await expect(second).resolves.toBe(2);
  });
});

describe("a rate limit", () => {
  it("lets a minute's worth through, then one as it fills, and forgets the idlest key", () => {
    const clock = createManualClock();
    const limit = createRateLimit({ perMinute: 2, maxKeys: 2, clock });
    expect([limit("a"), limit("a"), limit("a")]).toEqual([0, 0, 30_000]);
    clock.jump(clock.nowMs() + 29_999);
    expect(limit("a")).toBe(1);
    clock.jump(clock.nowMs() + 1);
    expect([limit("a"), limit("a")]).toEqual([0, 30_000]);
    // A clock that steps back gives nothing away.
    clock.jump(clock.nowMs() - 60_000);
    expect(limit("a")).toBe(30_000);
    limit("b");
    limit("c");
    expect(limit("a")).toBe(0);
  });
});

describe("wake-ups", () => {
  it("reach the mailbox's listeners only", () => {
    const heard: string[] = [];
    const wakeups = createWakeups();
    const stop = wakeups.subscribe("a", (through) => heard.push(`a${through}`));
    wakeups.subscribe("b", (through) => heard.push(`b${through}`));
    wakeups.wake(new Map([["a", 3]]));
    stop();
    wakeups.wake(new Map([["a", 4]]));
    wakeups.wake(new Map([["b", anyPosition]]));
    expect(heard).toEqual(["a3", `b${anyPosition}`]);
  });
});

describe("lanes", () => {
  it("are stable, within bounds, and all in use", () => {
    const account = newId();
    expect(laneOf(account, 1)).toBe(0);
    expect(laneOf(account, 8)).toBe(laneOf(account, 8));
    const lanes = Array.from({ length: 200 }, () => laneOf(newId(), 4));
    expect(new Set(lanes)).toEqual(new Set([0, 1, 2, 3]));
  });
});

describe("expiry", () => {
  it("makes days ahead at start and every hour, and drops day D at D + 32, items first", async () => {
    const clock = createManualClock();
    const calls: string[] = [];
    const today = dayOf(clock.nowMs());
    const expiry = createExpiry({
      ensureDays: async (from, to) => void calls.push(`ensure ${from - today}…${to - today}`),
      expireItems: async (day) => calls.push(`items before ${day - today}`),
      dropDaysBefore: async (day) => calls.push(`tables before ${day - today}`),
      purge: async () => void calls.push("purge"),
      clock,
      onDone: () => {},
      onFailure: (code) => calls.push(`failed ${code}`),
    });
    await expiry.start();
    await clock.advance(0);
    const round = ["ensure -1…2", "items before -31", "tables before -31", "purge"];
    expect(calls).toEqual(["ensure -1…2", ...round]);
    calls.length = 0;
    await clock.advance(3_600_000);
    expect(calls).toEqual(round);
    await expiry.close();
    await clock.advance(dayMs);
    expect(calls).toEqual(round);
  });

  it("tries again an hour after a failure", async () => {
    const clock = createManualClock();
    let runs = 0;
    const failures: string[] = [];
    const expiry = createExpiry({
      ensureDays: async () => {},
      expireItems: async () => {
        runs += 1;
        throw Object.assign(new Error("lock"), { code: "55P03" });
      },
      dropDaysBefore: async () => 0,
      purge: async () => {},
      clock,
      onDone: () => {},
      onFailure: (code) => void failures.push(code),
    });
    await expiry.start();
    await clock.advance(0);
    await clock.advance(3_600_000);
    expect([runs, failures]).toEqual([2, ["55P03", "55P03"]]);
    await expiry.close();
  });
});
