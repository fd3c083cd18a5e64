import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareView,
  judgingLists,
  learnLists,
  listStopped,
  newestList,
  restartLists,
} from "../../../src/device/identity/lists.ts";
import { getContact } from "../../../src/device/store/contacts.ts";
import { deviceListsAbove } from "../../../src/device/store/lists.ts";
import type { DeviceStore } from "../../../src/device/store/sqlite.ts";
import { type DeviceList, deviceState } from "../../../src/shared/crypto/device-list.ts";
import { idText } from "../../../src/shared/ids.ts";
import {
  at,
  createDevice,
  createPerson,
  entryFor,
  failureOf,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { befriend, chainOf, listOf, memoryStore, registered } from "./identity-world.ts";

const bob = createPerson(seededRng("bob"), 2);
const aik = idText(bob.aik.publicKey);
const chain = chainOf(bob, 6);
const list = (version: number): DeviceList => at(chain, version - 1);

const learn = (store: DeviceStore, ...lists: readonly DeviceList[]) =>
  store.write((tx) => learnLists(tx, aik, lists));
const newestVersion = (store: DeviceStore) => store.read((tx) => newestList(tx, aik)?.version);
const held = (store: DeviceStore) =>
  store.read((tx) => deviceListsAbove(tx, aik, 0).map((row) => row.version));

describe("learning device lists", () => {
  it("ends with the same newest list, whatever the order and grouping of deliveries", () => {
    const deliveries = fc.array(
      fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(deliveries, (groups) => {
        using store = memoryStore();
        for (const group of groups) {
          const learned = learn(store, ...group.map(list));
          // What a device does about a gap: it asks for everything above what it holds.
          if (!learned.ok && learned.error.type === "list-gap") {
            const since = learned.error.knownVersion;
            valueOf(learn(store, ...chain.slice(since, Math.max(...group))));
          }
        }
        const highest = Math.max(...groups.flat());
        expect(newestVersion(store)).toBe(highest);
        expect(store.read((tx) => newestList(tx, aik)?.hash)).toEqual(list(highest).hash);
        expect(store.read((tx) => listStopped(tx, aik))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("pins the first list it sees, whatever its version", () => {
    using store = memoryStore();
    const change = valueOf(learn(store, list(4)));
    expect(change).toMatchObject({ pinned: true, added: [], revoked: [] });
    expect(newestVersion(store)).toBe(4);
    expect(valueOf(learn(store, list(5))).pinned).toBe(false);
    expect(held(store)).toEqual([4, 5]);
  });

  it("follows a whole chain at once and keeps every version of it", () => {
    using store = memoryStore();
    expect(valueOf(learn(store, ...chain.toReversed())).newest.version).toBe(6);
    expect(held(store)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("names who joined and who left", () => {
    using store = memoryStore();
    const tablet = createDevice(seededRng("tablet"), bob.aik);
    const [admin, phone] = [at(bob.list.entries, 0), at(bob.list.entries, 1)];
    const grown = listOf(bob, { version: 2, entries: [admin, phone, entryFor(tablet, false)] });
    const shrunk = listOf(bob, {
      version: 3,
      prevHash: grown.hash,
      entries: [admin, { ...phone, state: deviceState.revoked }, entryFor(tablet, false)],
    });
    valueOf(learn(store, bob.list));
    const change = valueOf(learn(store, shrunk, grown));
    expect(change.added.map((entry) => entry.deviceId)).toEqual([tablet.deviceId]);
    expect(change.revoked.map((entry) => entry.deviceId)).toEqual([phone.deviceId]);
  });

  it("reports a rollback and changes nothing", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1), list(2), list(3)));
    expect(failureOf(learn(store, list(1), list(2)))).toBe("list-rollback");
    expect(newestVersion(store)).toBe(3);
    expect(store.read((tx) => listStopped(tx, aik))).toBeUndefined();
  });

  it("asks for what lies between, and keeps what it could follow", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1)));
    expect(learn(store, list(2), list(5))).toEqual({
      ok: false,
      error: { type: "list-gap", knownVersion: 2 },
    });
    expect(newestVersion(store)).toBe(2);
  });

  it("takes no list of another account, and nothing of the delivery it came in", () => {
    using store = memoryStore();
    const eve = createPerson(seededRng("eve"));
    expect(failureOf(learn(store, list(1), eve.list))).toBe("list-foreign");
    expect(failureOf(learn(store))).toBe("list-empty");
    expect(newestVersion(store)).toBeUndefined();
  });

  it("refuses a successor that changes what must never change", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1)));
    const moved = bob.list.entries.map((entry, index) =>
      index === 1 ? { ...entry, mailbox: new Uint8Array(16) } : entry,
    );
    expect(failureOf(learn(store, listOf(bob, { version: 2, entries: moved })))).toBe(
      "list-malformed",
    );
    expect(newestVersion(store)).toBe(1);
  });
});

const fork = (version: number): DeviceList =>
  listOf(bob, { version, prevHash: list(version - 1).hash, issuedMs: 1 });

describe("two histories under one key", () => {
  it("stops sending on a fork of the newest version, and says so to the contact's owner", () => {
    const alice = registered();
    befriend(alice, bob);
    valueOf(learn(alice.store, list(1), list(2)));
    expect(failureOf(learn(alice.store, fork(2)))).toBe("list-fork");
    expect(alice.store.read((tx) => listStopped(tx, aik))).toBe("list-fork");
    expect(alice.store.read((tx) => getContact(tx, aik)?.stopped)).toBe("list-fork");
    expect(newestVersion(alice.store)).toBe(2);
  });

  it("notices a fork of an older version that it holds", () => {
    using store = memoryStore();
    valueOf(learn(store, ...chain));
    expect(failureOf(learn(store, fork(3)))).toBe("list-fork");
    expect(newestVersion(store)).toBe(6);
  });

  it("stops sending on a next version that does not build on the newest", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1), list(2)));
    expect(failureOf(learn(store, listOf(bob, { version: 3, prevHash: list(1).hash })))).toBe(
      "list-chain",
    );
    expect(store.read((tx) => listStopped(tx, aik))).toBe("list-chain");
    expect(newestVersion(store)).toBe(2);
  });

  it("judges devices by both histories from then on", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1), list(2)));
    const rival = fork(2);
    learn(store, rival);
    const judging = store.read((tx) => judgingLists(tx, aik));
    expect(judging.map((each) => idText(each.hash))).toEqual([
      idText(list(2).hash),
      idText(rival.hash),
    ]);
  });

  it("keeps the first reason and a bounded number of rivals", () => {
    using store = memoryStore();
    valueOf(learn(store, list(1), list(2)));
    learn(store, fork(2));
    for (let issuedMs = 2; issuedMs < 20; issuedMs++) {
      learn(store, listOf(bob, { version: 3, prevHash: list(1).hash, issuedMs }));
    }
    expect(store.read((tx) => listStopped(tx, aik))).toBe("list-fork");
    expect(store.read((tx) => judgingLists(tx, aik))).toHaveLength(9);
  });

  it("ends only by a new start: then the first list seen is pinned again", () => {
    const alice = registered();
    befriend(alice, bob);
    valueOf(learn(alice.store, list(1), list(2)));
    learn(alice.store, fork(2));
    alice.store.write((tx) => restartLists(tx, aik));
    expect(alice.store.read((tx) => listStopped(tx, aik))).toBeUndefined();
    expect(alice.store.read((tx) => getContact(tx, aik)?.stopped)).toBeNull();
    expect(valueOf(learn(alice.store, fork(2))).pinned).toBe(true);
  });
});

const view = (version: number, of: DeviceList = list(version)) => ({
  version,
  hashPrefix: of.hash.slice(0, 8),
});

describe("what others know of a list", () => {
  it("tells current, older, newer and contradicting views apart", () => {
    using store = memoryStore();
    const compare = (each: ReturnType<typeof view>) =>
      store.read((tx) => compareView(tx, aik, each));
    expect(compare(view(1))).toBe("unknown");
    valueOf(learn(store, list(2), list(3), list(4)));
    expect(compare(view(4))).toBe("current");
    expect(compare(view(3))).toBe("older");
    expect(compare(view(5))).toBe("newer");
    expect(compare(view(1))).toBe("unknown");
    expect(compare(view(3, list(2)))).toBe("contradicts");
    expect(compare(view(4, list(2)))).toBe("contradicts");
  });
});
