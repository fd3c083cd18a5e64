import { describe, expect, it } from "vitest";
import { createBackground } from "../../src/device/background.ts";
import { createConnection } from "../../src/device/connection.ts";
import { createRelayTime } from "../../src/device/identity/relay-time.ts";
import { ownPrekeys } from "../../src/device/store/identity.ts";
import type { MailboxEvents, MailboxRequest } from "../../src/device/transport/port.ts";
import { dayMs } from "../../src/shared/clock.ts";
import { ok } from "../../src/shared/result.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { testNowMs } from "../support/people.ts";
import { seededRng } from "../support/seeded-rng.ts";
import { registered } from "./identity/identity-world.ts";

/** A device that stays connected for days to a relay that says how much is queued. */
async function stayConnected(days: number, queued: number) {
  const alice = registered();
  const clock = createManualClock(testNowMs);
  const { store } = alice;
  const relayTime = createRelayTime(clock, store);
  const background = createBackground();
  const asked: MailboxRequest[] = [];
  let events: MailboxEvents | undefined;
  const ready = { type: "ready", epoch: "e", queued: 0, relayTimeMs: testNowMs } as const;
  const state = { ...ready, refused: { count: 0, sinceMs: undefined } };
  const connection = createConnection({
    store,
    clock,
    relayTime,
    background,
    rng: seededRng("upkeep"),
    bundles: {
      fetch: () => Promise.resolve(ok(undefined)),
      freshen: () => Promise.resolve(ok(undefined)),
    },
    transport: {
      openMailbox: (_identity, given) => {
        events = given;
        return {
          state: () => state,
          acknowledge: () => {},
          request: (request) => {
            asked.push(request);
            return Promise.resolve(ok({ reply: { queued }, relayTimeMs: clock.nowMs() }));
          },
          close: () => Promise.resolve(),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        };
      },
    },
    onDelivery: () => {},
    mend: () => Promise.resolve(),
    onReady: () => {},
    emit: () => {},
    notice: () => {},
  });
  connection.start(alice.own);
  events?.onState(state);
  events?.onDrained(0n);
  for (let hour = 0; hour < days * 24; hour++) {
    await clock.advance(dayMs / 24);
    await background.idle();
  }
  await connection.close();
  return { held: store.read(ownPrekeys), asked };
}

describe("a device that never loses its connection", () => {
  it("destroys private halves all the same, once its mailbox is empty", async () => {
    const { held, asked } = await stayConnected(10, 0);
    const published = asked.filter((request) => request.type === "publish-prekey");
    expect(published.length).toBeGreaterThan(7);
    expect(held.length).toBeLessThanOrEqual(4);
  });

  it("keeps them while anything is queued", async () => {
    const { held, asked } = await stayConnected(10, 1);
    const published = asked.filter((request) => request.type === "publish-prekey");
    expect(held).toHaveLength(published.length + 1);
  });
});
