/** The device list: its form, its signature, and what may follow what. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, label16, u8 } from "../../../src/shared/bytes.ts";
import {
  checkSuccessor,
  type DeviceEntry,
  type DeviceList,
  type DeviceListContent,
  deviceState,
  entryOf,
  followChain,
  liveEntries,
  parseDeviceList,
  signDeviceList,
} from "../../../src/shared/crypto/device-list.ts";
import { blake2b, newSigningKey, sign } from "../../../src/shared/crypto/sodium.ts";
import { revokedEntryMs } from "../../../src/shared/limits.ts";
import { at, createPerson, failureOf, nextList, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("device list");
const key = newSigningKey(rng);

function entry(fields: Partial<DeviceEntry> = {}): DeviceEntry {
  return {
    deviceId: rng(16),
    dsk: rng(32),
    mailbox: rng(16),
    addedMs: 5n,
    state: deviceState.admin,
    changedMs: 6n,
    ...fields,
  };
}

function content(fields: Partial<DeviceListContent> = {}): DeviceListContent {
  return {
    aik: key.publicKey,
    version: 1,
    issuedMs: 7n,
    prevHash: new Uint8Array(32),
    entries: [entry()],
    ...fields,
  };
}

/** Signs bytes that no honest writer produces. */
function resign(record: Uint8Array, change: (unsigned: Uint8Array) => void): Uint8Array {
  const unsigned = record.slice(0, -64);
  change(unsigned);
  return concat(unsigned, sign(key.privateKey, "PX1 device-list", unsigned));
}

const state = fc.constantFrom(0, 1, 2);
const anyContent = fc
  .record({
    version: fc.integer({ min: 1, max: 0xffffffff }),
    issuedMs: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    states: fc.array(state, { maxLength: 15 }),
  })
  .map(({ version, issuedMs, states }) =>
    content({
      version,
      issuedMs,
      prevHash: version === 1 ? new Uint8Array(32) : rng(32),
      entries: [
        entry(),
        ...states.map((value) => entry({ state: value === 0 ? 0 : value === 1 ? 1 : 2 })),
      ],
    }),
  );

describe("form", () => {
  it("round-trips, and its hash is over the whole record", () => {
    fc.assert(
      fc.property(anyContent, (input) => {
        const list = signDeviceList(input, key.privateKey);
        expect(list.record).toHaveLength(78 + 81 * input.entries.length + 64);
        const parsed = valueOf(parseDeviceList(list.record));
        expect(parsed).toEqual(list);
        expect(parsed.hash).toEqual(blake2b(32, list.record));
      }),
      { numRuns: 50 },
    );
  });

  it("refuses every flipped byte", () => {
    const { record } = signDeviceList(content(), key.privateKey);
    for (let i = 0; i < record.length; i++) {
      const flipped = record.slice();
      flipped[i] = at([...record], i) ^ (1 << (i % 8));
      expect(parseDeviceList(flipped).ok, `byte ${i}`).toBe(false);
    }
  });

  it("refuses every other length", () => {
    const { record } = signDeviceList(content(), key.privateKey);
    for (const cut of [0, 1, 77, 78, 142, record.length - 1]) {
      expect(failureOf(parseDeviceList(record.slice(0, cut)))).toBe("list-malformed");
    }
    expect(failureOf(parseDeviceList(concat(record, u8(0))))).toBe("list-malformed");
  });

  it("refuses a signature by another key, under another label, or over another account", () => {
    const { record } = signDeviceList(content(), key.privateKey);
    const unsigned = record.slice(0, -64);
    const other = newSigningKey(rng);
    const byOther = concat(unsigned, sign(other.privateKey, "PX1 device-list", unsigned));
    expect(failureOf(parseDeviceList(byOther))).toBe("list-signature");
    const otherLabel = concat(unsigned, sign(key.privateKey, "PX1 device-cert", unsigned));
    expect(failureOf(parseDeviceList(otherLabel))).toBe("list-signature");
    const foreign = record.slice();
    foreign.set(other.publicKey, 1);
    expect(failureOf(parseDeviceList(foreign))).toBe("list-signature");
  });

  it.each<[string, (unsigned: Uint8Array) => void]>([
    ["another record version", (bytes) => bytes.set([2], 0)],
    ["version 0", (bytes) => bytes.fill(0, 33, 37)],
    ["an unknown state", (bytes) => bytes.set([3], 78 + 81 + 72)],
    ["no admin", (bytes) => bytes.set([0], 78 + 72)],
    ["two equal device ids", (bytes) => bytes.copyWithin(78 + 81, 78, 78 + 16)],
    ["two equal DSKs", (bytes) => bytes.copyWithin(78 + 81 + 16, 78 + 16, 78 + 48)],
    ["two equal mailboxes", (bytes) => bytes.copyWithin(78 + 81 + 48, 78 + 48, 78 + 64)],
    ["a previous hash in version 1", (bytes) => bytes.set([1], 45)],
    ["no previous hash in version 2", (bytes) => bytes.set([2], 36)],
  ])("refuses %s, validly signed", (_name, change) => {
    const list = signDeviceList(
      content({ entries: [entry(), entry({ state: deviceState.active })] }),
      key.privateKey,
    );
    expect(parseDeviceList(resign(list.record, () => undefined)).ok).toBe(true);
    expect(failureOf(parseDeviceList(resign(list.record, change)))).toBe("list-malformed");
  });

  it("refuses a list without devices", () => {
    const { record } = signDeviceList(content(), key.privateKey);
    const unsigned = record.slice(0, 78);
    unsigned[77] = 0;
    const empty = concat(unsigned, sign(key.privateKey, "PX1 device-list", unsigned));
    expect(failureOf(parseDeviceList(empty))).toBe("list-malformed");
  });

  it("holds 16 devices that are not revoked, and any number that are", () => {
    const live = Array.from({ length: 16 }, () => entry());
    const revoked = Array.from({ length: 20 }, () => entry({ state: deviceState.revoked }));
    const list = signDeviceList(content({ entries: [...live, ...revoked] }), key.privateKey);
    expect(valueOf(parseDeviceList(list.record)).entries).toHaveLength(36);
    expect(liveEntries(list)).toHaveLength(16);
    expect(() => signDeviceList(content({ entries: [...live, entry()] }), key.privateKey)).toThrow(
      /more than 16/,
    );
    const many = Array.from({ length: 255 }, () => entry({ state: deviceState.revoked }));
    expect(() => signDeviceList(content({ entries: [entry(), ...many] }), key.privateKey)).toThrow(
      /more than 255/,
    );
  });

  it("will not sign what nobody may read", () => {
    expect(() => signDeviceList(content({ version: 0 }), key.privateKey)).toThrow(/version 0/);
    expect(() => signDeviceList(content({ entries: [] }), key.privateKey)).toThrow(/no devices/);
  });

  it("is signed under its label", () => {
    const { record } = signDeviceList(content(), key.privateKey);
    const unsigned = record.slice(0, -64);
    const signature = sign(key.privateKey, "PX1 device-list", unsigned);
    expect(record.slice(-64)).toEqual(signature);
    expect(label16("PX1 device-list")).toHaveLength(16);
  });
});

describe("succession", () => {
  const person = createPerson(seededRng("succession"), 3);
  const admin = at(person.list.entries, 0);
  const second = at(person.list.entries, 1);
  const third = at(person.list.entries, 2);
  const follow = (fields: Partial<DeviceListContent>): DeviceList =>
    signDeviceList(
      {
        aik: person.aik.publicKey,
        version: 2,
        issuedMs: person.list.issuedMs + 1n,
        prevHash: person.list.hash,
        entries: person.list.entries,
        ...fields,
      },
      person.aik.privateKey,
    );

  it("accepts the next version and names the same one", () => {
    const next = follow({ entries: [admin, second, { ...third, state: deviceState.revoked }] });
    expect(checkSuccessor(person.list, next)).toEqual({ ok: true, value: "next" });
    expect(checkSuccessor(person.list, person.list)).toEqual({ ok: true, value: "unchanged" });
  });

  it("names rollback, fork, gap, broken chain and foreign account", () => {
    const second2 = follow({});
    const third3 = follow({ version: 3, prevHash: second2.hash });
    expect(failureOf(checkSuccessor(second2, person.list))).toBe("list-rollback");
    expect(failureOf(checkSuccessor(second2, follow({ issuedMs: 1n })))).toBe("list-fork");
    expect(failureOf(checkSuccessor(person.list, third3))).toBe("list-gap");
    expect(failureOf(checkSuccessor(person.list, follow({ prevHash: rng(32) })))).toBe(
      "list-chain",
    );
    const stranger = createPerson(seededRng("stranger"));
    expect(failureOf(checkSuccessor(person.list, stranger.list))).toBe("list-foreign");
    expect(valueOf(followChain(person.list, [second2, third3])).version).toBe(3);
    expect(failureOf(followChain(person.list, [third3, second2]))).toBe("list-gap");
    expect(valueOf(followChain(person.list, []))).toBe(person.list);
  });

  it.each<[string, DeviceEntry[]]>([
    ["another DSK", [admin, { ...second, dsk: rng(32) }, third]],
    ["another mailbox", [admin, { ...second, mailbox: rng(16) }, third]],
    ["another date", [admin, { ...second, addedMs: 1n }, third]],
    ["a device left out", [admin, second]],
    ["a device under another id", [admin, second, { ...third, deviceId: rng(16) }]],
  ])("refuses %s", (_name, entries) => {
    expect(failureOf(checkSuccessor(person.list, follow({ entries })))).toBe("list-malformed");
  });

  it("never brings back a revoked device, and forgets it after 120 days", () => {
    const gone: DeviceEntry = { ...third, state: deviceState.revoked, changedMs: 1_000n };
    const revoked = follow({ entries: [admin, second, gone] });
    const after = (fields: Partial<DeviceListContent>): DeviceList =>
      follow({ version: 3, prevHash: revoked.hash, ...fields });
    expect(failureOf(checkSuccessor(revoked, after({ entries: [admin, second, third] })))).toBe(
      "list-malformed",
    );
    const limit = 1_000n + BigInt(revokedEntryMs);
    const without = [admin, second];
    expect(failureOf(checkSuccessor(revoked, after({ entries: without, issuedMs: limit })))).toBe(
      "list-malformed",
    );
    expect(checkSuccessor(revoked, after({ entries: without, issuedMs: limit + 1n })).ok).toBe(
      true,
    );
  });

  it("finds entries by device id", () => {
    expect(entryOf(person.list, second.deviceId)).toEqual(second);
    expect(entryOf(person.list, rng(16))).toBeUndefined();
    expect(nextList(person, person.list.entries).version).toBe(2);
  });
});
