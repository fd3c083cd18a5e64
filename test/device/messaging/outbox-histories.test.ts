import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { step } from "../../../src/device/messaging/outbox.ts";
import type { Entry, OutboxEvent } from "../../../src/device/messaging/outbox-entry.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { outboxLifeMs } from "../../../src/shared/limits.ts";
import { refusalCodes } from "../../../src/shared/wire/errors.ts";

/** An entry that was just composed. */
const composed: Entry = {
  state: "open",
  reason: null,
  composedMs: 0,
  confirmed: true,
  acceptedMs: null,
  nextMs: 0,
  attempts: 0,
  copies: [],
};

/** What must hold between an entry and the next one, in words for what does not. */
function broken(before: Entry, after: Entry, event: OutboxEvent): readonly string[] {
  const flaws = after.copies.flatMap((copy) => {
    const old = before.copies.find((other) => other.deviceId === copy.deviceId);
    const dropped = old?.state === "dropped" && event.type !== "confirmed";
    return [
      ...(dropped && copy.state !== "dropped" ? ["a dropped copy came back"] : []),
      (copy.slot !== null) !== (copy.state === "sealed") ? "a slot without a sealing" : "",
      old?.slot != null && copy.slot !== null && copy.slot !== old.slot ? "two sealings" : "",
    ];
  });
  const lost = before.copies.filter(
    (old) =>
      old.state === "confirmed" &&
      after.copies.find((copy) => copy.deviceId === old.deviceId)?.state !== "confirmed",
  );
  const wasConfirmed = after.copies.some((copy) => copy.state === "confirmed");
  return [
    ...flaws,
    lost.length > 0 ? "a confirmation was lost" : "",
    after.copies.length < before.copies.length ? "a copy vanished" : "",
    after.state === "done" && !wasConfirmed ? "done without a confirmation" : "",
  ].filter((flaw) => flaw !== "");
}

describe("any order of events", () => {
  const device = fc.constantFrom("a", "b", "c");
  const slot = fc.constantFrom("s", "t", "u");
  const event: fc.Arbitrary<OutboxEvent> = fc.oneof(
    fc.record({
      type: fc.constant("sealed" as const),
      slot,
      targets: fc
        .uniqueArray(device, { minLength: 1 })
        .map((ids) => ids.map((deviceId) => ({ deviceId, notBeforeMs: 1 }))),
    }),
    fc
      .tuple(slot, fc.dictionary(device, fc.constantFrom("stored", "duplicate", "full")))
      .map(([at, results]) => ({
        type: "answered" as const,
        slot: at,
        results: new Map(Object.entries(results)),
      })),
    fc.tuple(slot, fc.constantFrom(...refusalCodes)).map(([at, code]) => ({
      type: "refused" as const,
      slot: at,
      code,
      retryAfterMs: 0,
    })),
    slot.map((at) => ({ type: "unanswered" as const, slot: at, reason: "silence" })),
    device.map((deviceId) => ({ type: "confirmed" as const, deviceId })),
    device.map((deviceId) => ({ type: "overtaken" as const, deviceId })),
    fc
      .tuple(
        fc.constantFrom("reseal" as const, "revoked" as const, "no-prekey" as const),
        fc.uniqueArray(device),
      )
      .map(([type, deviceIds]) => ({ type, deviceIds })),
    fc.constant({ type: "time" as const }),
  );
  const history = fc.array(fc.tuple(event, fc.integer({ min: 0, max: dayMs })), { maxLength: 40 });

  it("never takes a confirmation back, never sends two sealings of one copy, always ends", () => {
    fc.assert(
      fc.property(history, (steps) => {
        let nowMs = 0;
        let at = composed;
        for (const [happening, deltaMs] of steps) {
          nowMs += deltaMs;
          const next = step(at, happening, { nowMs, fraction: 0.5 });
          expect(broken(at, next, happening)).toEqual([]);
          at = next;
        }
        const end = step(at, { type: "time" }, { nowMs: outboxLifeMs, fraction: 0.5 });
        expect(end.state).not.toBe("open");
      }),
      { numRuns: 1_000 },
    );
  });
});
