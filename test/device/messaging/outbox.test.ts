import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shouldReseal, step } from "../../../src/device/messaging/outbox.ts";
import type {
  Copy,
  CopyResult,
  Entry,
  OutboxEvent,
} from "../../../src/device/messaging/outbox-entry.ts";
import {
  networkRetry,
  recipientRetry,
  resealMs,
  retryMs,
} from "../../../src/device/messaging/retry-times.ts";
import { outboxLifeMs } from "../../../src/shared/limits.ts";
import { refusalCodes } from "../../../src/shared/wire/errors.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const half = 0.5;

function entry(fields: Partial<Entry> = {}): Entry {
  return {
    state: "open",
    reason: null,
    composedMs: 0,
    confirmed: true,
    acceptedMs: null,
    nextMs: 0,
    attempts: 0,
    copies: [],
    ...fields,
  };
}

function run(start: Entry, ...events: readonly (readonly [OutboxEvent, number])[]): Entry {
  return events.reduce((at, [event, nowMs]) => step(at, event, { nowMs, fraction: half }), start);
}

const sealed = (slot: string, ...deviceIds: readonly string[]): OutboxEvent => ({
  type: "sealed",
  slot,
  targets: deviceIds.map((deviceId) => ({ deviceId, notBeforeMs: 0 })),
});
const answered = (slot: string, results: Readonly<Record<string, CopyResult>>): OutboxEvent => ({
  type: "answered",
  slot,
  results: new Map(Object.entries(results)),
});
const refused = (
  slot: string,
  code: (typeof refusalCodes)[number],
  retryAfterMs = 0,
): OutboxEvent => ({ type: "refused", slot, code, retryAfterMs });
const confirmed = (deviceId: string): OutboxEvent => ({ type: "confirmed", deviceId });
const states = (at: Entry): readonly string[] => at.copies.map((copy) => copy.state);

describe("the way of a copy", () => {
  it("is queued, sealed, accepted, confirmed", () => {
    const afterSealing = run(entry(), [sealed("s", "a", "b"), 10]);
    expect(states(afterSealing)).toEqual(["sealed", "sealed"]);
    const accepted = run(afterSealing, [answered("s", { a: "stored", b: "duplicate" }), 20]);
    expect(states(accepted)).toEqual(["accepted", "accepted"]);
    expect(accepted).toMatchObject({ state: "open", acceptedMs: 20 });
    const one = run(accepted, [confirmed("b"), 30]);
    expect(one).toMatchObject({ state: "open" });
    expect(run(one, [confirmed("a"), 40])).toMatchObject({ state: "done" });
  });

  it("ends with acceptance when nobody confirms its kind", () => {
    const start = entry({ confirmed: false });
    const end = run(start, [sealed("s", "a"), 0], [answered("s", { a: "stored" }), 5]);
    expect(end.state).toBe("done");
  });

  it("R15: full for one and stored for the other: only the full one is sealed again", () => {
    const after = run(
      entry(),
      [sealed("s", "a", "b"), 0],
      [answered("s", { a: "stored", b: "full" }), 0],
    );
    expect(states(after)).toEqual(["accepted", "queued"]);
    expect(after.copies[1]?.nextMs).toBe(recipientRetry.baseMs * half);
    const again = run(after, [sealed("t", "a", "b"), 100]);
    expect(again.copies.map((copy) => copy.slot)).toEqual([null, "t"]);
  });

  it("keeps its sealing while nothing answers, and asks for another when the relay says so", () => {
    const start = run(entry(), [sealed("s", "a"), 0]);
    const silent = run(start, [{ type: "unanswered", slot: "s", reason: "no route" }, 0]);
    expect(silent.copies[0]).toMatchObject({ state: "sealed", slot: "s", attempts: 1 });
    for (const code of refusalCodes) {
      const after = run(start, [refused("s", code, 7_000), 0]);
      const later = ["rate-limited", "overloaded", "storage-full"].includes(code);
      expect([code, after.copies[0]?.state]).toEqual([code, later ? "sealed" : "queued"]);
      expect(after.copies[0]?.nextMs).toBeGreaterThanOrEqual(7_000);
      expect(after.reason).toContain(code === "token-invalid" ? "key has changed" : code);
    }
  });

  it("token-invalid keeps it queued, and after 7 days tells the user to ask for an invite", () => {
    const early = run(entry(), [sealed("s", "a"), 0], [refused("s", "token-invalid"), 6 * dayMs]);
    expect(early).toMatchObject({ state: "open", reason: expect.stringContaining("waiting") });
    const late = run(entry(), [sealed("s", "a"), 0], [refused("s", "token-invalid"), 7 * dayMs]);
    expect(late).toMatchObject({ state: "open", reason: expect.stringContaining("new invite") });
  });

  it("a device without a prekey stays queued and is asked for daily", () => {
    const after = run(
      entry(),
      [{ type: "no-prekey", deviceIds: ["b"] }, 0],
      [sealed("s", "a"), 0],
      [answered("s", { a: "stored" }), 0],
      [confirmed("a"), 1],
    );
    expect(after).toMatchObject({ state: "open" });
    expect(after.copies.find((copy) => copy.deviceId === "b")).toMatchObject({
      state: "queued",
      nextMs: dayMs,
    });
  });

  it("a device that was removed is dropped; when all were, the user is told", () => {
    const start = run(
      entry(),
      [sealed("s", "a", "b"), 0],
      [answered("s", { a: "stored", b: "stored" }), 0],
    );
    const one = run(start, [{ type: "revoked", deviceIds: ["b"] }, 1], [confirmed("a"), 2]);
    expect(one).toMatchObject({ state: "done" });
    expect(states(one)).toEqual(["confirmed", "dropped"]);
    const all = run(start, [{ type: "revoked", deviceIds: ["a", "b"] }, 1]);
    expect(all).toMatchObject({ state: "failed", reason: expect.stringContaining("removed") });
  });

  it("expires 30 days after composing, whatever happens then", () => {
    const start = run(entry(), [sealed("s", "a"), 0], [answered("s", { a: "stored" }), 0]);
    expect(run(start, [{ type: "time" }, outboxLifeMs - 1]).state).toBe("open");
    const end = run(start, [{ type: "reseal", deviceIds: ["a"] }, outboxLifeMs]);
    expect(end).toMatchObject({ state: "expired" });
    expect(states(end)).toEqual(["expired"]);
    // A receipt that arrives late is the truth all the same.
    expect(run(end, [confirmed("a"), outboxLifeMs + 1])).toMatchObject({ state: "done" });
  });

  it("a receipt counts as acceptance when the relay's answer was lost", () => {
    const after = run(entry(), [sealed("s", "a", "b"), 0], [confirmed("a"), 5]);
    expect(after).toMatchObject({ acceptedMs: 5, state: "open" });
    expect(states(after)).toEqual(["confirmed", "sealed"]);
  });

  it("a receipt of a device that has no copy changes nothing", () => {
    const start = run(entry(), [sealed("s", "a"), 0]);
    expect(run(start, [confirmed("stranger"), 5])).toEqual(start);
  });
});

describe("re-sealing", () => {
  const copy: Copy = {
    deviceId: "a",
    state: "accepted",
    slot: null,
    prekeyNotBeforeMs: 1_000,
    acceptedMs: 0,
    confirmedMs: null,
    nextMs: 0,
    attempts: 0,
    reseals: 0,
  };
  const facts = { nowMs: 20 * minuteMs, relayNowMs: 20 * minuteMs, overtaken: true };

  it("waits 20 min · 2^k, at most 6 h", () => {
    expect([0, 1, 2, 3, 4, 5, 8].map(resealMs)).toEqual(
      [20, 40, 80, 160, 320, 360, 360].map((minutes) => minutes * minuteMs),
    );
    const early = { ...facts, newestPrekeyMs: undefined, nowMs: 20 * minuteMs - 1 };
    expect(shouldReseal(copy, early)).toBe(false);
    expect(shouldReseal(copy, { ...early, nowMs: 20 * minuteMs })).toBe(true);
    expect(shouldReseal({ ...copy, reseals: 1 }, { ...early, nowMs: 20 * minuteMs })).toBe(false);
  });

  it("happens when the device has used a newer prekey for over 48 h, and not before", () => {
    const newestPrekeyMs = 2_000;
    const relayNowMs = newestPrekeyMs + 48 * hourMs;
    const at = { nowMs: relayNowMs, relayNowMs, newestPrekeyMs, overtaken: false };
    expect(shouldReseal(copy, at)).toBe(false);
    expect(shouldReseal(copy, { ...at, relayNowMs: relayNowMs + 1 })).toBe(true);
    expect(shouldReseal(copy, { ...at, relayNowMs: relayNowMs + 1, newestPrekeyMs: 1_000 })).toBe(
      false,
    );
  });

  it("never happens to a copy that is confirmed, dropped or still on its way", () => {
    for (const state of ["queued", "sealed", "confirmed", "dropped", "expired"] as const) {
      expect(shouldReseal({ ...copy, state }, { ...facts, newestPrekeyMs: undefined })).toBe(false);
    }
  });

  it("never touches a copy that is confirmed, or on its way", () => {
    const start = run(
      entry(),
      [sealed("s", "a", "b"), 0],
      [answered("s", { a: "stored", b: "stored" }), 0],
      [confirmed("a"), 1],
    );
    const asked = run(start, [{ type: "reseal", deviceIds: ["a", "b"] }, hourMs]);
    expect(states(asked)).toEqual(["confirmed", "queued"]);
    const sealing = run(asked, [sealed("t", "b"), hourMs]);
    expect(run(sealing, [{ type: "reseal", deviceIds: ["a", "b"] }, hourMs])).toEqual(sealing);
  });

  it("is looked into ten minutes after the device confirmed something newer", () => {
    const start = run(entry(), [sealed("s", "a"), 0], [answered("s", { a: "stored" }), 0]);
    const checked = run(start, [{ type: "checked", deviceIds: ["a"], reason: undefined }, hourMs]);
    expect(checked.nextMs).toBe(7 * hourMs);
    const hastened = run(checked, [{ type: "overtaken", deviceId: "a" }, 2 * hourMs]);
    expect(hastened.nextMs).toBe(2 * hourMs + 10 * minuteMs);
    // But not before it may be sealed again.
    expect(run(start, [{ type: "overtaken", deviceId: "a" }, 0]).nextMs).toBe(20 * minuteMs);
  });

  it("queues the copy again, with a new sealing and one re-seal more", () => {
    const start = run(entry(), [sealed("s", "a"), 0], [answered("s", { a: "stored" }), 0]);
    const again = run(start, [{ type: "reseal", deviceIds: ["a"] }, 30 * minuteMs]);
    expect(again.copies[0]).toMatchObject({ state: "queued", slot: null, reseals: 1 });
    const accepted = run(
      again,
      [sealed("t", "a"), 30 * minuteMs],
      [answered("t", { a: "stored" }), 30 * minuteMs],
    );
    expect(accepted.copies[0]).toMatchObject({ state: "accepted", nextMs: 70 * minuteMs });
    // The first acceptance stays what it was.
    expect(accepted.acceptedMs).toBe(0);
  });
});

describe("back-off", () => {
  it("R40: the cap comes first, then jitter over the whole range, the first retry included", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (n, f) => {
          for (const bounds of [networkRetry, recipientRetry]) {
            const ceiling = Math.min(bounds.capMs, bounds.baseMs * 2 ** Math.min(n - 1, 40));
            const ms = retryMs(n, bounds, f);
            expect(ms).toBe(Math.floor(ceiling * f));
            expect(ms).toBeLessThan(bounds.capMs);
          }
        },
      ),
    );
    // After a long outage the retries still spread over the whole cap.
    expect([0, 0.25, 0.75].map((f) => retryMs(1_000, networkRetry, f))).toEqual([
      0, 75_000, 225_000,
    ]);
    expect(retryMs(1, networkRetry, 0.5)).toBe(500);
  });
});
