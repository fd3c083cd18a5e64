import { describe, expect, it } from "vitest";
import { closeCode } from "../../../src/relay/ws/close-codes.ts";
import {
  closeSocket,
  type DeviceSocket,
  isBacklogged,
} from "../../../src/relay/ws/device-socket.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const capBytes = 2 * 1_048_576;

function socketWith(bufferedAmount: number): DeviceSocket & { readonly acts: string[] } {
  const acts: string[] = [];
  return {
    acts,
    bufferedAmount,
    send: () => acts.push("send"),
    ping: () => acts.push("ping"),
    close: (code) => acts.push(`close ${code}`),
    terminate: () => acts.push("terminate"),
  };
}

describe("the socket of a mailbox connection", () => {
  it("R36: counts the next frame into what a peer may leave unread", () => {
    expect(isBacklogged(socketWith(0), capBytes)).toBe(false);
    expect(isBacklogged(socketWith(0), capBytes + 1)).toBe(true);
    expect(isBacklogged(socketWith(capBytes - 10), 10)).toBe(false);
    expect(isBacklogged(socketWith(capBytes - 10), 11)).toBe(true);
  });

  it("cuts a peer that does not answer a close within 5 s", async () => {
    const clock = createManualClock(0);
    const socket = socketWith(0);
    closeSocket(socket, closeCode.goingAway, "restart", clock);
    await clock.advance(4_999);
    expect(socket.acts).toEqual(["close 1001"]);
    await clock.advance(1);
    expect(socket.acts).toEqual(["close 1001", "terminate"]);
  });
});
