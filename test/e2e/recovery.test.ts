/** An account that comes back with its recovery code, on a real relay, with and without devices left. */
import { describe, expect, it } from "vitest";

import { newSigningKey } from "../../src/shared/crypto/sodium.ts";
import { systemRng } from "../../src/shared/rng.ts";
import { encodeRecoveryCode } from "../../src/device/crypto/recovery-code.ts";
import type { Device } from "../../src/device/device.ts";
import { befriend, expectOk, settled, texts, until } from "../support/pair.ts";
import { setStage } from "../support/stage.ts";

const stage = setStage();

async function bobOf(alice: Device): Promise<Device> {
  const bob = await stage.person("Bob");
  await befriend(alice, bob);
  return bob;
}

describe("a recovery", () => {
  it("after every device was lost: the account is the same, and contacts are invited again", async () => {
    const { device: laptop, recoveryCode } = await stage.owner("Alice");
    const bob = await bobOf(laptop);
    const number = expectOk(bob.safetyNumber("Alice")).digits;
    await laptop.close();
    const phone = await stage.recovered(recoveryCode, { revokeOthers: true });
    expect(phone.identity()).toMatchObject({ aik: laptopAik(bob), admin: true, listVersion: 2 });
    expect(phone.devices().map(({ state }) => state)).toEqual(["revoked", "admin"]);

    expectOk(bob.send("Alice", "are you back?"));
    await until([bob, phone], "it arrives as a request", () => texts(phone).length === 1);
    const { link } = expectOk(await phone.invite());
    expectOk(await bob.acceptInvite(link));
    await until([bob, phone], "they know each other again", () =>
      phone.contacts().some(({ name, reachable }) => name === "Bob" && reachable),
    );
    expect(expectOk(phone.safetyNumber("Bob")).digits).toBe(number);
    const { messageId } = expectOk(phone.send("Bob", "with everything"));
    await until([bob, phone], "confirmed", () => phone.delivery(messageId)?.state === "confirmed");
    const back = expectOk(bob.send("Alice", "long ".repeat(2_000)));
    await until([bob, phone], "confirmed back", () => {
      const delivery = bob.delivery(back.messageId);
      return delivery?.state === "confirmed" && delivery.copies.length === 1;
    });
  });

  it("beside a device that is left: it brings people and history, and all learn the new key", async () => {
    const { device: laptop, recoveryCode } = await stage.owner("Alice");
    const bob = await bobOf(laptop);
    expectOk(bob.send("Alice", "from before"));
    await settled(bob, laptop);
    const phone = await stage.recovered(recoveryCode);
    await until(
      [laptop, phone],
      "people and history came",
      () =>
        phone.contacts().some(({ name }) => name === "Bob") && texts(phone).includes("from before"),
    );
    await settled(laptop, phone, bob);
    expect(laptop.devices().map(({ state }) => state)).toEqual(["admin", "admin"]);
    // More than retired keys may carry.
    const { messageId } = expectOk(bob.send("Alice", "long ".repeat(2_000)));
    await until([bob, laptop, phone], "both have it", () => {
      const delivery = bob.delivery(messageId);
      return delivery?.state === "confirmed" && delivery.copies.length === 2;
    });
    const answer = expectOk(phone.send("Bob", "from the phone"));
    await until(
      [bob, phone],
      "confirmed",
      () => phone.delivery(answer.messageId)?.state === "confirmed",
    );
  });

  it("is refused for a code that was misread, and for a key that no account has", async () => {
    const { recoveryCode } = await stage.owner("Alice");
    const device = await stage.device();
    const names = { accountName: "Alice", deviceName: "new phone" };
    const misread = `${recoveryCode.slice(0, 5)}${recoveryCode[5] === "A" ? "B" : "A"}${recoveryCode.slice(6)}`;
    expect(await device.recover({ recoveryCode: misread, ...names })).toMatchObject({
      ok: false,
      error: { type: "recovery-code" },
    });
    const aikSeed = newSigningKey(systemRng).seed;
    const foreign = encodeRecoveryCode({ aikSeed, relayOrigin: stage.relay().url });
    expect(await device.recover({ recoveryCode: foreign, ...names })).toMatchObject({
      ok: false,
      error: { type: "unauthorised" },
    });
    expect(device.identity()).toBeUndefined();
  });
});

function laptopAik(bob: Device): string | undefined {
  return bob.contacts().find(({ name }) => name === "Alice")?.aik;
}
