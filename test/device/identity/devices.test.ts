import { describe, expect, it } from "vitest";
import {
  certifyDevice,
  deviceViews,
  listWithDevice,
  listWithoutDevice,
} from "../../../src/device/identity/devices.ts";
import { learnBundle } from "../../../src/device/identity/bundles.ts";
import { learnLists, newestList } from "../../../src/device/identity/lists.ts";
import { putOwnAccount } from "../../../src/device/store/identity.ts";
import { parseCertificate } from "../../../src/shared/crypto/certificate.ts";
import {
  checkSuccessor,
  deviceState,
  entryOf,
  liveEntries,
  parseDeviceList,
} from "../../../src/shared/crypto/device-list.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { idText } from "../../../src/shared/ids.ts";
import { failureOf, testNowMs, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { bundleOf, memoryStore, registered, type Registered } from "./identity-world.ts";

const later = testNowMs + 60_000;

function joining(seed: string) {
  const rng = seededRng(seed);
  return { deviceId: rng(16), mailbox: rng(16), dsk: newSigningKey(rng).publicKey };
}
function add(alice: Registered, seed: string, nowMs: number = later) {
  const proposal = valueOf(alice.store.read((tx) => listWithDevice(tx, joining(seed), nowMs)));
  alice.store.write((tx) => learnLists(tx, alice.own.aikText, [proposal.list]));
  return proposal;
}
function revoke(alice: Registered, deviceId: Uint8Array, nowMs: number) {
  const proposal = valueOf(alice.store.read((tx) => listWithoutDevice(tx, deviceId, nowMs)));
  alice.store.write((tx) => learnLists(tx, alice.own.aikText, [proposal.list]));
  return proposal;
}

describe("the next list with a device", () => {
  it("follows the one known, adds one active device, and names what it builds on", () => {
    const alice = registered();
    const tablet = joining("tablet");
    const { list, request } = valueOf(alice.store.read((tx) => listWithDevice(tx, tablet, later)));
    expect(checkSuccessor(alice.created.list, list)).toEqual({ ok: true, value: "next" });
    expect(entryOf(list, tablet.deviceId)).toEqual({
      ...tablet,
      addedMs: BigInt(later),
      state: deviceState.active,
      changedMs: BigInt(later),
    });
    expect(request).toEqual({
      type: "update-device-list",
      expectedVersion: 1,
      expectedHash: alice.created.list.hash,
      deviceList: list.record,
    });
    expect(valueOf(parseDeviceList(request.deviceList)).hash).toEqual(list.hash);
    expect(alice.store.read((tx) => newestList(tx, alice.own.aikText)?.version)).toBe(1);
  });

  it("takes 16 devices and not one more, revoked ones not counted", () => {
    const alice = registered();
    for (let i = 1; i < 16; i++) add(alice, `d${i}`);
    const full = alice.store.read((tx) => listWithDevice(tx, joining("d16"), later));
    expect(failureOf(full)).toBe("too-many-devices");
    revoke(alice, joining("d5").deviceId, later);
    expect(alice.store.read((tx) => listWithDevice(tx, joining("d16"), later)).ok).toBe(true);
  });

  it("takes no device twice, not even one that was revoked", () => {
    const alice = registered();
    add(alice, "tablet");
    const again = () => alice.store.read((tx) => listWithDevice(tx, joining("tablet"), later));
    expect(failureOf(again())).toBe("device-known");
    revoke(alice, joining("tablet").deviceId, later);
    expect(failureOf(again())).toBe("device-known");
  });

  it("is signed by an admin device only", () => {
    const alice = registered();
    alice.store.write((tx) => putOwnAccount(tx, { ...alice.created.account, aikSeed: null }));
    const { list } = alice.created;
    const results = alice.store.read((tx) => [
      listWithDevice(tx, joining("tablet"), later),
      listWithoutDevice(tx, joining("tablet").deviceId, later),
      certifyDevice(tx, joining("tablet"), list),
    ]);
    expect(results.map((result) => (result.ok ? "signed" : result.error.type))).toEqual(
      Array(3).fill("not-admin"),
    );
    using nobody = memoryStore();
    expect(failureOf(nobody.read((tx) => listWithDevice(tx, joining("x"), later)))).toBe(
      "not-admin",
    );
  });
});

describe("the next list without a device", () => {
  it("marks it revoked for good and keeps the others as they are", () => {
    const alice = registered();
    add(alice, "tablet");
    add(alice, "phone");
    const tablet = joining("tablet").deviceId;
    const { list } = revoke(alice, tablet, later + 1);
    expect(entryOf(list, tablet)).toMatchObject({
      state: deviceState.revoked,
      addedMs: BigInt(later),
      changedMs: BigInt(later + 1),
    });
    expect(liveEntries(list)).toHaveLength(2);
    const twice = alice.store.read((tx) => listWithoutDevice(tx, tablet, later));
    expect(failureOf(twice)).toBe("device-revoked");
  });

  it("does not take out an admin, which holds the account's key, nor one that is not there", () => {
    const alice = registered();
    const without = (deviceId: Uint8Array) =>
      alice.store.read((tx) => listWithoutDevice(tx, deviceId, later));
    expect(failureOf(without(alice.own.deviceId))).toBe("device-admin");
    expect(failureOf(without(joining("ghost").deviceId))).toBe("no-device");
  });

  it("leaves a revoked entry out 120 days later, and not before", () => {
    const alice = registered();
    add(alice, "tablet");
    const tablet = joining("tablet").deviceId;
    const before = revoke(alice, tablet, later).list;
    const at = (nowMs: number) =>
      valueOf(alice.store.read((tx) => listWithDevice(tx, joining("phone"), nowMs))).list;
    expect(entryOf(at(later + 120 * dayMs), tablet)).toBeDefined();
    const gone = at(later + 120 * dayMs + 1);
    expect(entryOf(gone, tablet)).toBeUndefined();
    expect(checkSuccessor(before, gone)).toEqual({ ok: true, value: "next" });
  });
});

describe("certificates and views", () => {
  it("certifies a device of a list under the account's key", () => {
    const alice = registered();
    const { list } = add(alice, "tablet");
    const tablet = joining("tablet");
    const { record } = valueOf(alice.store.read((tx) => certifyDevice(tx, tablet, list)));
    expect(valueOf(parseCertificate(record))).toMatchObject({
      aik: alice.own.aik,
      deviceId: tablet.deviceId,
      dsk: tablet.dsk,
      listVersion: 2,
      issuedMs: BigInt(later),
    });
  });

  it("shows each device with its state, and whether it can be sealed to", () => {
    const alice = registered();
    add(alice, "tablet");
    add(alice, "phone");
    const { list } = revoke(alice, joining("phone").deviceId, later);
    const bundle = bundleOf([list], [alice.created.prekey.record]);
    valueOf(alice.store.write((tx) => learnBundle(tx, alice.own.aikText, bundle, testNowMs)));
    expect(alice.store.read(deviceViews)).toEqual([
      {
        deviceId: idText(alice.own.deviceId),
        state: "admin",
        thisDevice: true,
        addedMs: testNowMs,
        name: "Alice's laptop",
        hasPrekey: true,
      },
      {
        deviceId: idText(joining("tablet").deviceId),
        state: "active",
        thisDevice: false,
        addedMs: later,
        name: undefined,
        hasPrekey: false,
      },
      {
        deviceId: idText(joining("phone").deviceId),
        state: "revoked",
        thisDevice: false,
        addedMs: later,
        name: undefined,
        hasPrekey: false,
      },
    ]);
    using nobody = memoryStore();
    expect(nobody.read(deviceViews)).toEqual([]);
  });
});
