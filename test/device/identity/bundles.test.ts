import { describe, expect, it } from "vitest";
import {
  bundleRequest,
  deliveryRoute,
  learnBundle,
  reachableDevices,
  usablePrekey,
} from "../../../src/device/identity/bundles.ts";
import { learnLists, newestList } from "../../../src/device/identity/lists.ts";
import { updateContact } from "../../../src/device/store/contacts.ts";
import { bundleFetchedMs, peerPrekeyOf, peerPrekeys } from "../../../src/device/store/lists.ts";
import { parseBase64Url } from "../../../src/shared/bytes.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { deviceState } from "../../../src/shared/crypto/device-list.ts";
import { originHash } from "../../../src/shared/crypto/origin.ts";
import { signPrekey } from "../../../src/shared/crypto/prekey.ts";
import { bundleTokenInput, tokenExpiry, tokenMatches } from "../../../src/shared/crypto/token.ts";
import { idText } from "../../../src/shared/ids.ts";
import type { BundleReply } from "../../../src/shared/wire/http.ts";
import {
  at,
  createDevice,
  createPerson,
  failureOf,
  testNowMs,
  testOrigin,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import {
  befriend,
  bundleOf,
  chainOf,
  listOf,
  registered,
  type Registered,
} from "./identity-world.ts";

const bob = createPerson(seededRng("bob"), 2);
const [laptop, phone] = [at(bob.devices, 0), at(bob.devices, 1)];
const aik = idText(bob.aik.publicKey);
const laptopId = idText(laptop.deviceId);
const chain = chainOf(bob, 3);

function prekeyOf(device: typeof laptop, notBeforeMs: number, seed = "key"): Uint8Array {
  const publicKey = seededRng(`${seed} ${notBeforeMs}`)(1_216);
  const content = { deviceId: device.deviceId, notBeforeMs: BigInt(notBeforeMs), publicKey };
  return signPrekey(content, bob.aik.publicKey, device.dsk.privateKey).record;
}
function withBob(): Registered {
  const alice = registered();
  befriend(alice, bob);
  return alice;
}
const learn = ({ store }: Registered, reply: BundleReply, nowMs: number = testNowMs) =>
  store.write((tx) => learnBundle(tx, aik, reply, nowMs));
const heldRecord = ({ store }: Registered) =>
  store.read((tx) => peerPrekeyOf(tx, aik, laptopId)?.record);

describe("asking for a bundle", () => {
  it("names what is held, with a token that the relay verifies", () => {
    const alice = withBob();
    learn(alice, bundleOf(chain, []));
    const asked = alice.store.read((tx) => bundleRequest(tx, aik, testNowMs));
    if (asked === undefined) throw new Error("no request");
    expect(asked.relayOrigin).toBe(testOrigin);
    expect(asked.request).toMatchObject({ since: 3, key_kind: 0 });
    const expiryMs = BigInt(asked.request.token_expiry);
    expect(tokenExpiry(expiryMs, testNowMs)).toBe("valid");
    const claim = { accountMailbox: bob.accountMailbox, keyKind: 0, since: 3, expiryMs } as const;
    const token = valueOf(parseBase64Url(asked.request.token));
    const here = bundleTokenInput(claim, originHash(testOrigin));
    expect(tokenMatches(here, token, bob.accessKey)).toBe(true);
    const there = bundleTokenInput(claim, originHash("https://other.example"));
    expect(tokenMatches(there, token, bob.accessKey)).toBe(false);
  });

  it("asks for the whole chain of somebody new, or when told to", () => {
    const alice = withBob();
    expect(alice.store.read((tx) => bundleRequest(tx, aik, testNowMs))?.request.since).toBe(0);
    learn(alice, bundleOf(chain, []));
    expect(alice.store.read((tx) => bundleRequest(tx, aik, testNowMs, 0))?.request.since).toBe(0);
  });

  it("prefers the access key, else the invite key, else has no way in", () => {
    const alice = withBob();
    const route = () => alice.store.read((tx) => deliveryRoute(tx, aik));
    const inviteKey = new Uint8Array(32).fill(4);
    alice.store.write((tx) => updateContact(tx, aik, { inviteKey }));
    expect(route()).toMatchObject({ keyKind: 0, key: bob.accessKey });
    alice.store.write((tx) => updateContact(tx, aik, { accessKey: null }));
    expect(route()).toMatchObject({ keyKind: 1, key: inviteKey });
    alice.store.write((tx) => updateContact(tx, aik, { inviteKey: null }));
    expect(route()).toBeUndefined();
    expect(alice.store.read((tx) => bundleRequest(tx, aik, testNowMs))).toBeUndefined();
    expect(alice.store.read((tx) => deliveryRoute(tx, "nobody"))).toBeUndefined();
  });

  it("reaches the own account by its own key", () => {
    const { store, own } = registered();
    expect(store.read((tx) => deliveryRoute(tx, own.aikText))).toEqual({
      relayOrigin: testOrigin,
      accountMailbox: own.accountMailbox,
      keyKind: 0,
      key: own.accessKey,
    });
  });
});

describe("learning a bundle", () => {
  it("takes lists and prekeys, and remembers when", () => {
    const alice = withBob();
    const reply = bundleOf(chain, [laptop.prekey.record, phone.prekey.record]);
    const change = valueOf(learn(alice, reply));
    expect(change).toMatchObject({ pinned: true, faults: [] });
    expect(change.renewed.toSorted()).toEqual([laptopId, idText(phone.deviceId)].toSorted());
    expect(alice.store.read((tx) => bundleFetchedMs(tx, aik))).toBe(testNowMs);
    expect(alice.store.read((tx) => reachableDevices(tx, aik, testNowMs))).toEqual({
      live: 2,
      withPrekey: 2,
    });
    expect(valueOf(learn(alice, reply)).renewed).toEqual([]);
  });

  it("takes a newer prekey, and never goes back to an older one", () => {
    const alice = withBob();
    const newer = prekeyOf(laptop, testNowMs + 1);
    valueOf(learn(alice, bundleOf(chain, [newer])));
    const change = valueOf(learn(alice, bundleOf(chain, [laptop.prekey.record])));
    expect(change).toMatchObject({ renewed: [], faults: [] });
    expect(heldRecord(alice)).toEqual(newer);
  });

  it("refuses another key under the same date", () => {
    const alice = withBob();
    const first = prekeyOf(laptop, testNowMs);
    valueOf(learn(alice, bundleOf(chain, [first])));
    const other = bundleOf(chain, [prekeyOf(laptop, testNowMs, "other")]);
    expect(valueOf(learn(alice, other)).faults).toEqual([{ type: "prekey-equal" }]);
    expect(heldRecord(alice)).toEqual(first);
  });

  it("takes a date one hour ahead, and never pins one beyond", () => {
    const alice = withBob();
    const beyond = bundleOf(chain, [prekeyOf(laptop, testNowMs + 3_600_001)]);
    expect(valueOf(learn(alice, beyond)).faults).toEqual([{ type: "prekey-future" }]);
    expect(heldRecord(alice)).toBeUndefined();
    const ahead = prekeyOf(laptop, testNowMs + 3_600_000);
    expect(valueOf(learn(alice, bundleOf(chain, [ahead]))).renewed).toEqual([laptopId]);
  });

  it("does not seal to a prekey over 45 days old", () => {
    const alice = withBob();
    valueOf(learn(alice, bundleOf(chain, [laptop.prekey.record])));
    const entry = at(bob.list.entries, 0);
    const usable = (nowMs: number) =>
      alice.store.read((tx) => usablePrekey(tx, aik, entry, nowMs)) !== undefined;
    expect(usable(testNowMs + 45 * dayMs)).toBe(true);
    expect(usable(testNowMs + 45 * dayMs + 1)).toBe(false);
  });

  it("takes no prekey of an unlisted or revoked device, and keeps the others", () => {
    const alice = withBob();
    const stranger = createDevice(seededRng("stranger"), bob.aik);
    const [admin, second] = [at(bob.list.entries, 0), at(bob.list.entries, 1)];
    const revoking = listOf(bob, {
      version: 2,
      entries: [admin, { ...second, state: deviceState.revoked }],
    });
    const records = [stranger.prekey.record, phone.prekey.record, laptop.prekey.record];
    const change = valueOf(learn(alice, bundleOf([bob.list, revoking], records)));
    expect(change.faults).toEqual([{ type: "prekey-unlisted" }, { type: "prekey-unlisted" }]);
    expect(alice.store.read((tx) => peerPrekeys(tx, aik)).map((row) => row.deviceId)).toEqual([
      laptopId,
    ]);
  });

  it("takes no prekey that another account or nobody signed", () => {
    const alice = withBob();
    const eve = createPerson(seededRng("eve"));
    const content = {
      deviceId: laptop.deviceId,
      notBeforeMs: BigInt(testNowMs),
      publicKey: new Uint8Array(1_216),
    };
    const moved = signPrekey(content, eve.aik.publicKey, laptop.dsk.privateKey).record;
    const forged = signPrekey(content, bob.aik.publicKey, eve.aik.privateKey).record;
    const cut = laptop.prekey.record.slice(0, -1);
    const change = valueOf(learn(alice, bundleOf(chain, [moved, forged, cut])));
    expect(change.faults.map((fault) => fault.type)).toEqual([
      "prekey-signature",
      "prekey-signature",
      "prekey-malformed",
    ]);
    expect(heldRecord(alice)).toBeUndefined();
  });

  it("believes nothing of a bundle whose lists are at fault", () => {
    const alice = withBob();
    const eve = createPerson(seededRng("eve"));
    valueOf(learn(alice, bundleOf(chain.slice(0, 2), [])));
    const rolledBack = bundleOf(chain.slice(0, 1), [laptop.prekey.record]);
    const foreign = bundleOf([eve.list], [laptop.prekey.record]);
    const gap = bundleOf([listOf(bob, { version: 5 })], [laptop.prekey.record]);
    const junk = { ...rolledBack, device_lists: ["AAAA"] };
    const empty = { ...rolledBack, device_lists: [] };
    const later = testNowMs + 1_000;
    expect(
      [rolledBack, foreign, gap, junk, empty].map((each) => failureOf(learn(alice, each, later))),
    ).toEqual(["list-rollback", "list-foreign", "list-gap", "bundle-malformed", "list-empty"]);
    expect(heldRecord(alice)).toBeUndefined();
    expect(alice.store.read((tx) => bundleFetchedMs(tx, aik))).toBe(testNowMs);
    expect(alice.store.read((tx) => newestList(tx, aik)?.version)).toBe(2);
  });

  it("closes a gap from the whole chain", () => {
    const alice = withBob();
    alice.store.write((tx) => learnLists(tx, aik, [bob.list]));
    expect(learn(alice, bundleOf([at(chain, 2)], []))).toEqual({
      ok: false,
      error: { type: "list-gap", knownVersion: 1 },
    });
    expect(valueOf(learn(alice, bundleOf(chain, []))).newest.version).toBe(3);
  });
});
