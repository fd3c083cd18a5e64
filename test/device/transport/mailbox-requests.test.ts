import { afterEach, describe, expect, it } from "vitest";
import { deadOrigin } from "./misbehaving.ts";
import { createWorkbench, isType, whenOffline } from "./scripted-mailbox.ts";

const { connect, scripted, closeAll } = createWorkbench();
afterEach(closeAll);

describe("requests", () => {
  it("carries each request with an id of its own and settles it by that id", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    const status = device.mailbox.request({ type: "mailbox-status" });
    const invite = device.mailbox.request({
      type: "invite-key",
      key: new Uint8Array(32).fill(1),
      expiresMs: 1_900_000_000_000,
      revoked: false,
    });
    const inviteFrame = await side.received.until((frame) => frame["type"] === "invite-key");
    const statusFrame = await side.received.until((frame) => frame["type"] === "mailbox-status");
    expect(inviteFrame).toEqual({
      type: "invite-key",
      id: inviteFrame["id"],
      key: Buffer.alloc(32, 1).toString("base64url"),
      expires: "1900000000000",
      revoked: false,
    });
    expect(inviteFrame["id"]).not.toBe(statusFrame["id"]);
    const error = { code: "conflict", message: "too many", retry_after_ms: 4 };
    side.say({ type: "reply", id: inviteFrame["id"], time: "10", error });
    side.say({ type: "reply", id: statusFrame["id"], time: "11", ok: { queued: 1 } });
    expect(await status).toEqual({
      ok: true,
      value: { reply: { queued: 1 }, relayTimeMs: 11 },
    });
    expect(await invite).toEqual({
      ok: false,
      error: {
        type: "refused",
        refusal: { code: "conflict", message: "too many", retryAfterMs: 4 },
        relayTimeMs: 10,
      },
    });
  });

  it("R29: a reply that never comes ends at a deadline", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    await (await relay.side(0)).admit();
    await device.states.until(isType("ready"));
    const answer = device.mailbox.request({ type: "mailbox-status" });
    await device.clock.advance(20_000);
    expect(await answer).toEqual({
      ok: false,
      error: { type: "unreachable", reason: "no reply to mailbox-status within 20 s" },
    });
    expect(device.mailbox.state().type).toBe("ready");
  });

  it("R29: a request ends with the connection that carried it", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    const side = await relay.side(0);
    await side.admit();
    await device.states.until(isType("ready"));
    const answer = device.mailbox.request({ type: "mailbox-status" });
    await side.received.until((frame) => frame["type"] === "mailbox-status");
    side.socket.terminate();
    expect(await answer).toMatchObject({ ok: false, error: { type: "unreachable" } });
  });

  it("says why a request cannot be made while away", async () => {
    const device = connect(await deadOrigin());
    await whenOffline(device);
    expect(await device.mailbox.request({ type: "mailbox-status" })).toEqual({
      ok: false,
      error: {
        type: "unreachable",
        reason: "not connected to the relay: nothing listens at the relay's address",
      },
    });
  });

  it("bounds the requests that wait", async () => {
    const relay = await scripted();
    const device = connect(relay.origin);
    await (await relay.side(0)).admit();
    await device.states.until(isType("ready"));
    const waiting = Array.from({ length: 64 }, () =>
      device.mailbox.request({ type: "mailbox-status" }),
    );
    expect(await device.mailbox.request({ type: "mailbox-status" })).toMatchObject({
      ok: false,
      error: { type: "unreachable", reason: expect.stringContaining("64 requests") },
    });
    await device.mailbox.close();
    for (const answer of await Promise.all(waiting)) expect(answer.ok).toBe(false);
  });
});
