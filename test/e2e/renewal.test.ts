/** An admin device is stolen: the account is renewed without it, on a real relay. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";

import type { Device, DeviceOptions } from "../../src/device/device.ts";
import { befriend, expectOk, settled, texts, until } from "../support/pair.ts";
import { setStage } from "../support/stage.ts";

const stage = setStage();

interface Account {
  readonly laptop: Device;
  readonly phone: Device;
  readonly tablet: Device;
  readonly bob: Device;
  readonly recoveryCode: string;
}

/** Alice with laptop and phone as admins and a tablet; Bob, who knows all three. */
async function alicesDevices(bobOptions: Partial<DeviceOptions> = {}): Promise<Account> {
  const { device: laptop, recoveryCode } = await stage.owner("Alice");
  const bob = await stage.person("Bob", bobOptions);
  await befriend(laptop, bob);
  const tablet = await stage.sibling(laptop, "tablet");
  const phone = await stage.recovered(recoveryCode, { deviceName: "phone" });
  await until([laptop, tablet, phone], "all know Bob and each other", () =>
    [laptop, tablet, phone].every(
      (device) => device.contacts().length === 1 && device.devices().length === 3,
    ),
  );
  await settled(laptop, tablet, phone, bob);
  const { messageId } = expectOk(bob.send("Alice", "to all three"));
  await until([bob], "all three have it", () => bob.delivery(messageId)?.copies.length === 3);
  await settled(laptop, tablet, phone, bob);
  return { laptop, phone, tablet, bob, recoveryCode };
}

async function confirmed(
  sender: Device,
  others: readonly Device[],
  messageId: string,
): Promise<void> {
  await until([sender, ...others], "confirmed", () => {
    const delivery = sender.delivery(messageId);
    return (
      delivery?.state === "confirmed" &&
      delivery.copies.every(({ state }) => state === "confirmed" || state === "dropped")
    );
  });
}

it("a stolen admin phone is removed: new key, new number, and messages both ways", async () => {
  const { laptop, phone, tablet, bob, recoveryCode } = await alicesDevices();
  const before = { aik: laptop.identity()?.aik, number: expectOk(bob.safetyNumber("Alice")) };
  expectOk(bob.markVerified("Alice"));
  expectOk(bob.send("Alice", "from before"));
  await settled(bob, laptop, tablet, phone);

  const phoneId = phone.identity()?.deviceId ?? "";
  const renewed = expectOk(await laptop.renewAccount({ remove: [phoneId] }));
  expect(renewed.identity).toMatchObject({ admin: true, listVersion: 1 });
  expect(renewed.identity.aik).not.toBe(before.aik);
  expect(renewed.recoveryCode).not.toBe(recoveryCode);
  await until(phone, "the phone is shut out", () =>
    phone.status().connection.startsWith("rejected"),
  );
  await until([tablet, laptop], "the tablet follows", () => {
    return tablet.identity()?.aik === renewed.identity.aik;
  });
  await until(bob, "Bob follows", () => bob.contacts()[0]?.aik === renewed.identity.aik);
  await settled(laptop, tablet, bob);

  const after = expectOk(bob.safetyNumber("Alice"));
  expect(after.digits).not.toBe(before.number.digits);
  expect(after.verifiedMs).toBeUndefined();
  expect(expectOk(laptop.safetyNumber("Bob")).digits).toBe(after.digits);
  expect(expectOk(tablet.safetyNumber("Bob")).digits).toBe(after.digits);
  expect(bob.contacts()).toMatchObject([{ name: "Alice", reachable: true }]);
  expect(bob.contacts()[0]?.renewedMs).toBeGreaterThan(0);
  expect(texts(bob, "Alice")).toEqual(["to all three", "from before"]);

  const fromBob = expectOk(bob.send("Alice", "only for those who are left ".repeat(300)));
  await confirmed(bob, [laptop, tablet], fromBob.messageId);
  expect(bob.delivery(fromBob.messageId)?.copies).toHaveLength(2);
  for (const device of [laptop, tablet]) {
    const sent = expectOk(device.send("Bob", `from ${device.identity()?.deviceName}`));
    await confirmed(device, [bob, laptop, tablet], sent.messageId);
  }
  await settled(laptop, tablet, bob);
  expect(texts(tablet, "Bob")).toEqual(texts(laptop, "Bob"));
  expect(bob.contacts()).toHaveLength(1);
  for (const device of [laptop, tablet, bob]) expect(device.status().setAside).toBe(0);
  expect(texts(phone, "Bob")).toEqual(["to all three", "from before"]);
});

it("what the thief still sends as Alice is set aside, and the old code opens nothing", async () => {
  const { laptop, phone, tablet, bob, recoveryCode } = await alicesDevices();
  const remove = [phone.identity()?.deviceId ?? ""];
  const renewed = expectOk(await laptop.renewAccount({ remove }));
  await until(bob, "Bob follows", () => bob.contacts()[0]?.aik === renewed.identity.aik);
  await settled(laptop, tablet, bob);
  expectOk(phone.send("Bob", "send me money"));
  await until(bob, "set aside", () => bob.status().setAside > 0);
  expect(texts(bob)).toEqual(["to all three"]);
  expect(bob.contacts()).toHaveLength(1);

  const fresh = await stage.device();
  const names = { accountName: "Alice", deviceName: "thief's" };
  expect(await fresh.recover({ recoveryCode, ...names })).toMatchObject({
    ok: false,
    error: { type: "unauthorised" },
  });
  expect(await fresh.recover({ recoveryCode: renewed.recoveryCode, ...names })).toMatchObject({
    ok: true,
  });
  expect(expectOk(laptop.recoveryCode()).recoveryCode).toBe(renewed.recoveryCode);
  expect(tablet.recoveryCode()).toMatchObject({ ok: false, error: { type: "not-admin" } });
});

it("what nobody had confirmed arrives once, from every device that is left", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "pixie-renewal-"));
  const onDisk = { dataDir: folder, storeKey: { type: "key-file" } } as const;
  const { laptop, phone, tablet, bob } = await alicesDevices(onDisk);
  await bob.close();
  const [fromLaptop, fromTablet] = [laptop, tablet].map((device) => ({
    device,
    ...expectOk(device.send("Bob", `from ${device.identity()?.deviceName}`)),
  }));
  await until([laptop, tablet], "the relay has them", () =>
    [fromLaptop, fromTablet].every(
      (sent) => sent?.device.delivery(sent.messageId)?.state === "accepted",
    ),
  );
  const remove = [phone.identity()?.deviceId ?? ""];
  const renewed = expectOk(await laptop.renewAccount({ remove }));
  await until([tablet, laptop], "the tablet follows", () => {
    return tablet.identity()?.aik === renewed.identity.aik;
  });
  await settled(laptop, tablet);
  const again = await stage.device(onDisk);
  expectOk(again.start());
  for (const sent of [fromLaptop, fromTablet]) {
    if (sent !== undefined) await confirmed(sent.device, [again, laptop, tablet], sent.messageId);
  }
  await settled(laptop, tablet, again);
  expect(texts(again, "Alice").toSorted()).toEqual(
    ["from old laptop", "from tablet", "to all three"].toSorted(),
  );
  expect(again.contacts()).toMatchObject([{ name: "Alice", aik: renewed.identity.aik }]);
  await again.close();
  rmSync(folder, { recursive: true, force: true });
});

it("takes an admin device, and names of devices that there are", async () => {
  const { device: laptop } = await stage.owner("Alice");
  const bob = await stage.person("Bob");
  await befriend(laptop, bob);
  expect(await laptop.renewAccount({ remove: ["phone"] })).toMatchObject({
    ok: false,
    error: { type: "no-such-device" },
  });
  const tablet = await stage.sibling(laptop, "tablet");
  expect(await tablet.renewAccount({ remove: [] })).toMatchObject({
    ok: false,
    error: { type: "not-admin" },
  });
});
