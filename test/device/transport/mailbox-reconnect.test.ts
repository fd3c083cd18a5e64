import { afterEach, describe, expect, it } from "vitest";
import { createEventLog, deadOrigin } from "./misbehaving.ts";
import {
  challenge,
  comeBack,
  createWorkbench,
  isType,
  offlineState,
  whenOffline,
} from "./scripted-mailbox.ts";

const { connect, scripted, serving, closeAll } = createWorkbench();
afterEach(closeAll);

describe("ends and returns", () => {
  it("O4: two missed pongs end the connection, and traffic does not count as one", async () => {
    const relay = await scripted({ autoPong: false });
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    for (let seq = 1n; seq <= 3n; seq += 1n) {
      side.deliver(seq);
      await device.deliveries.until((delivery) => delivery.seq === seq);
      await device.clock.advance(25_000);
    }
    expect((await whenOffline(device)).reason).toBe("the relay stopped answering pings");
  });

  it("O4: pongs keep an idle connection for ever", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    const pings = createEventLog<number>();
    side.socket.on("ping", () => pings.push(pings.items.length + 1));
    await side.admit();
    await device.states.until(isType("ready"));
    for (let round = 1; round <= 20; round++) {
      await device.clock.advance(25_000);
      await pings.until((count) => count === round);
      // The pong went out before this delivery: when that is here, so is the pong.
      side.deliver(BigInt(round));
      await device.deliveries.until((delivery) => delivery.seq === BigInt(round));
    }
    expect(device.mailbox.state().type).toBe("ready");
  });

  it("stops for good when another connection of the same device took over", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    side.say({ type: "displaced" });
    expect(await device.states.until(isType("displaced"))).toEqual({ type: "displaced" });
    await device.clock.advance(3_600_000);
    expect(relay.sides.items).toHaveLength(1);
    expect(device.clock.pending()).toBe(0);
  });

  it("stops for good when the relay does not know the device", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    side.say(challenge);
    await side.received.until((frame) => frame["type"] === "auth");
    side.say({ type: "refused", error: "unauthorised", message: "unknown device", time: "1" });
    expect(await device.states.until(isType("rejected"))).toEqual({
      type: "rejected",
      reason: "unknown device",
    });
    await device.clock.advance(3_600_000);
    expect(relay.sides.items).toHaveLength(1);
  });

  it("comes back after any other refusal", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    side.say({ type: "refused", error: "overloaded", message: "too busy", time: "1" });
    expect((await whenOffline(device)).reason).toBe("the relay refused the connection: too busy");
    await comeBack(device);
    await (await relay.side(1)).admit();
    await device.states.until(isType("ready"));
  });

  it("R40: waits longer the longer the relay is away, within doubling ceilings and a cap", async () => {
    const device = connect(await deadOrigin());
    const retries: number[] = [];
    for (let failures = 1; failures <= 9; failures++) {
      const count = failures;
      await device.states.until(
        () => device.states.items.filter(isType("offline")).length === count,
      );
      const state = offlineState(device.mailbox.state());
      expect(state.retryMs).toBeLessThan(Math.min(60_000, 1_000 * 2 ** (failures - 1)));
      retries.push(state.retryMs);
      await device.clock.advance(state.retryMs);
    }
    expect(Math.max(...retries)).toBeGreaterThan(8_000);
  });

  it("starts the back-off anew only after a connection that lasted", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    for (let round = 0; round < 6; round++) {
      const side = await relay.side(round);
      await side.admit();
      await device.states.until(() => device.states.items.filter(isType("ready")).length > round);
      // The fourth connection lives past a ping; the others drop at once.
      if (round === 3) {
        await device.clock.advance(24_999);
        await device.clock.advance(1);
      }
      side.socket.terminate();
      await device.states.until(() => device.states.items.filter(isType("offline")).length > round);
      await comeBack(device);
    }
    const waits = device.states.items.flatMap((state) =>
      state.type === "offline" ? [state.retryMs] : [],
    );
    // After the lasting one the ceiling is 1 s again, as after the very first failure.
    expect(waits[3]).toBeLessThan(1_000);
    expect(waits[4]).toBeLessThan(2_000);
  });

  it("O12: says that HTTP works and the upgrade does not, and what to check", async () => {
    const proxy = await serving(
      (_request, response) => response.end(),
      (_request, socket) => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
    );
    const device = connect(proxy.origin, () => Promise.resolve(true));
    const state = await device.states.until(
      (each) => each.type === "offline" && each.reason.includes("proxy"),
    );
    expect(state).toMatchObject({
      reason:
        "the relay answers HTTP but the WebSocket upgrade fails (status 400 instead of an upgrade); " +
        "check that the proxy in front of it passes the Upgrade and Connection headers on /v1/device",
    });
  });

  it("O12: blames no proxy when HTTP does not answer either", async () => {
    const asked = createEventLog<true>();
    const device = connect(await deadOrigin(), () => {
      asked.push(true);
      return Promise.resolve(false);
    });
    await asked.until(() => true);
    await device.clock.advance(0);
    expect((await whenOffline(device)).reason).toBe("nothing listens at the relay's address");
  });

  it("O13: a cut without a word tells its age, so that a proxy's idle limit can be seen", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    device.clock.jump(device.clock.nowMs() + 60_000);
    side.socket.terminate();
    expect((await whenOffline(device)).reason).toMatch(/cut after 60 s.*proxy's idle limit/);
  });

  it("closes politely, ends every timer and reports nothing after", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    const before = device.states.items.length;
    await device.mailbox.close();
    expect(await side.gone).toBe(1_000);
    expect(device.clock.pending()).toBe(0);
    expect(device.states.items).toHaveLength(before);
    expect(device.mailbox.state()).toMatchObject({ type: "offline" });
  });

  it("closes while connecting, and while waiting to come back", async () => {
    const silent = await serving(
      (_request, response) => response.end(),
      () => {},
    );
    const connecting = connect(silent.origin);
    await connecting.mailbox.close();
    expect(connecting.clock.pending()).toBe(0);
    const away = connect(await deadOrigin());
    await whenOffline(away);
    await away.mailbox.close();
    expect(away.clock.pending()).toBe(0);
  });

  it("closes a socket whose other end does not say goodbye", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    side.socket.pause();
    const closed = device.mailbox.close();
    await device.clock.advance(2_000);
    await closed;
    expect(device.clock.pending()).toBe(0);
  });
});
