/** People and devices that are no longer trusted, or more than before, on a real relay. */
import { expect, it } from "vitest";

import type { Device } from "../../src/device/device.ts";
import { befriend, expectOk, settled, texts, until } from "../support/pair.ts";
import { setStage } from "../support/stage.ts";

const { person, sibling, database } = setStage();

/** Prekeys that the relay hands out for devices. */
async function prekeysOf(...devices: readonly Device[]): Promise<readonly string[]> {
  const ids = devices.map((device) =>
    Buffer.from(device.identity()?.deviceId ?? "", "base64url").toString("hex"),
  );
  const rows = await database().sql<{ readonly id: string; readonly record: string }[]>`
    select encode(uuid_send(device_id), 'hex') as id, encode(record, 'hex') as record from prekey`;
  return rows.filter(({ id }) => ids.includes(id)).map(({ record }) => record);
}

it("a block changes the key: the blocked one is shut out, everybody else goes on", async () => {
  const alice = await person("Alice");
  const bob = await person("Bob");
  const mallory = await person("Mallory");
  await befriend(alice, bob);
  await befriend(alice, mallory);
  expect(expectOk(await alice.blockContact("Mallory"))).toMatchObject({ relation: "blocked" });
  await settled(alice, bob);
  // More than the smallest bucket, which old keys still reach and blocked people do not get through.
  const refused = expectOk(mallory.send("Alice", "still here ".repeat(200)));
  expectOk(mallory.send("Alice", "psst"));
  await until(mallory, "refused", () =>
    /key has changed/.test(mallory.delivery(refused.messageId)?.reason ?? ""),
  );
  const { messageId } = expectOk(bob.send("Alice", "me too"));
  await until(bob, "confirmed", () => bob.delivery(messageId)?.state === "confirmed");
  expect(texts(alice, "Mallory")).toEqual([]);
  const again = await alice.blockContact("Mallory");
  expect(again).toMatchObject({ ok: false, error: { type: "contact-blocked" } });
  expect(expectOk(alice.unblockContact("Mallory"))).toMatchObject({ relation: "contact" });
});

it("two who changed their keys before either heard of it find each other by the reserve", async () => {
  const alice = await person("Alice");
  const bob = await person("Bob");
  const mallory = await person("Mallory");
  for (const guest of [bob, mallory]) await befriend(alice, guest);
  await befriend(bob, mallory);
  // The relay takes both new keys before either note of one is posted: each is sent by the old key.
  const keyChanges = [alice, bob].map((device) => device.blockContact("Mallory"));
  for (const blocked of await Promise.all(keyChanges)) expectOk(blocked);
  const there = expectOk(alice.send("Bob", "is it still you?"));
  const back = expectOk(bob.send("Alice", "it is"));
  await until(alice, "confirmed", () => alice.delivery(there.messageId)?.state === "confirmed");
  await until(bob, "confirmed", () => bob.delivery(back.messageId)?.state === "confirmed");
  const large = expectOk(alice.send("Bob", "beyond the reserve ".repeat(100)));
  await until(alice, "confirmed", () => alice.delivery(large.messageId)?.state === "confirmed");
  expect(texts(bob, "Alice")).toHaveLength(3);
});

it("a removed device hears nothing more, and its siblings and contacts go on", async () => {
  const alice = await person("Alice");
  const bob = await person("Bob");
  await befriend(alice, bob);
  const tablet = await sibling(alice, "tablet");
  const tabletId = tablet.identity()?.deviceId ?? "";
  const notAdmin = await tablet.revokeDevice(alice.identity()?.deviceId ?? "");
  expect(notAdmin).toMatchObject({ ok: false, error: { type: "not-admin" } });
  const itself = await alice.revokeDevice(alice.identity()?.deviceId ?? "");
  expect(itself).toMatchObject({ ok: false, error: { type: "device-admin" } });

  const phone = await sibling(alice, "phone");
  const before = await prekeysOf(phone);
  expect(expectOk(await alice.revokeDevice(tabletId))).toMatchObject({ state: "revoked" });
  await until(tablet, "shut out", () => tablet.status().connection.startsWith("rejected"));
  await settled(alice, bob);
  const { messageId } = expectOk(bob.send("Alice", "only to those who are left"));
  await until(bob, "confirmed", () => bob.delivery(messageId)?.state === "confirmed");
  expect(bob.delivery(messageId)?.copies).toHaveLength(2);
  // Whoever is left has a new prekey, not a day later.
  await settled(alice, phone);
  const after = await prekeysOf(alice, phone);
  expect(after).toHaveLength(2);
  expect(before.filter((prekey) => after.includes(prekey))).toEqual([]);
  expect(texts(tablet, "Bob")).toEqual([]);
  expect(await alice.revokeDevice(tabletId)).toMatchObject({
    ok: false,
    error: { type: "device-revoked" },
  });
});

it("both see the same safety number, and one remembers that it was compared", async () => {
  const alice = await person("Alice");
  const bob = await person("Bob");
  await befriend(alice, bob);
  const number = expectOk(alice.safetyNumber("Bob"));
  expect(number.digits).toMatch(/^(\d{5} ){11}\d{5}$/);
  expect(expectOk(bob.safetyNumber("Alice")).digits).toBe(number.digits);
  expect(number.verifiedMs).toBeUndefined();
  expectOk(alice.markVerified("Bob"));
  expect(expectOk(alice.safetyNumber("Bob")).verifiedMs).toBeGreaterThan(0);
  expect(alice.admitContact("Bob")).toMatchObject({ ok: false, error: { type: "not-a-request" } });
});
