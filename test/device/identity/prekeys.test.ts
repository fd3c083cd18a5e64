import { describe, expect, it } from "vitest";
import {
  destroySpentPrekeys,
  openerOf,
  prekeyDueMs,
  prekeyPublished,
  preparePrekey,
} from "../../../src/device/identity/prekeys.ts";
import {
  currentOwnPrekey,
  type OwnPrekeyRow,
  ownPrekeys,
} from "../../../src/device/store/identity.ts";
import { dayMs } from "../../../src/shared/clock.ts";
import { parsePrekey } from "../../../src/shared/crypto/prekey.ts";
import { idFromText, idText } from "../../../src/shared/ids.ts";
import { at, testNowMs, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";
import { registered, type Registered } from "./identity-world.ts";

const hourMs = 3_600_000;

function due(alice: Registered): number {
  return alice.store.read((tx) => prekeyDueMs(tx, alice.own.aikText));
}
function prepare(alice: Registered, nowMs: number, seed = String(nowMs)): OwnPrekeyRow | undefined {
  return alice.store.write((tx) => preparePrekey(tx, alice.own, nowMs, seededRng(seed)));
}
function publish(alice: Registered, nowMs: number): OwnPrekeyRow {
  const row = prepare(alice, nowMs);
  if (row === undefined) throw new Error("no prekey is due");
  alice.store.write((tx) => prekeyPublished(tx, row, nowMs));
  return row;
}
function drain(alice: Registered, beganMs: number, relayNowMs: number = beganMs): number {
  return alice.store.write((tx) => destroySpentPrekeys(tx, { beganMs, relayNowMs }));
}
const held = (alice: Registered) => alice.store.read(ownPrekeys).map((row) => row.prekeyId);

describe("publishing", () => {
  it("is due 20 to 28 h after the last one, spread over devices, the same whenever asked", () => {
    const offsets = ["Ann", "Ben", "Cem", "Dea", "Eli", "Fay"].map((name) => {
      const person = registered(name);
      expect(due(person)).toBe(due(person));
      return due(person) - testNowMs;
    });
    for (const offset of offsets) {
      expect(offset).toBeGreaterThanOrEqual(20 * hourMs);
      expect(offset).toBeLessThanOrEqual(28 * hourMs);
    }
    expect(new Set(offsets).size).toBe(offsets.length);
  });

  it("offers nothing before it is due, and a fresh key that this device signed then", () => {
    const alice = registered();
    const dueMs = due(alice);
    expect(prepare(alice, dueMs - 1)).toBeUndefined();
    const row = prepare(alice, dueMs);
    if (row === undefined) throw new Error("no prekey is due");
    const owner = { ...alice.own, dsk: alice.own.dsk.publicKey };
    const prekey = valueOf(parsePrekey(row.record, owner));
    expect(prekey.notBeforeMs).toBe(BigInt(dueMs));
    expect(idText(prekey.id)).toBe(row.prekeyId);
    expect(row.prekeyId).not.toBe(alice.created.prekey.prekeyId);
  });

  it("offers the identical record again until the relay has confirmed it", () => {
    const alice = registered();
    const dueMs = due(alice);
    const first = prepare(alice, dueMs);
    expect(prepare(alice, dueMs + hourMs, "other")).toEqual(first);
    expect(alice.store.read(ownPrekeys)).toHaveLength(2);
  });

  it("draws anew when one waited for over a day, and still holds the old one for late senders", () => {
    const alice = registered();
    const dueMs = due(alice);
    const waiting = prepare(alice, dueMs);
    const fresh = prepare(alice, dueMs + dayMs);
    if (fresh === undefined) throw new Error("no prekey is due");
    expect(fresh.prekeyId).not.toBe(waiting?.prekeyId);
    expect(held(alice)).toContain(waiting?.prekeyId);
    prepare(alice, dueMs + dayMs);
    alice.store.write((tx) => prekeyPublished(tx, fresh, dueMs + dayMs));
    const rows = alice.store.read(ownPrekeys);
    expect(rows.map((row) => row.supersededMs === null)).toEqual([false, false, true]);
  });

  it("never dates a prekey at or before an earlier one, though the relay's clock went back", () => {
    const alice = registered();
    const row = publish(alice, due(alice));
    alice.store.write((tx) => prekeyPublished(tx, row, testNowMs - 10 * dayMs));
    const next = prepare(alice, row.notBeforeMs - 1_000);
    expect(next?.notBeforeMs).toBe(row.notBeforeMs + 1);
  });

  it("is not held up by one that a wrong clock dated far ahead", () => {
    const alice = registered();
    const ahead = prepare(alice, testNowMs + 400 * dayMs);
    const row = prepare(alice, due(alice));
    expect(row?.prekeyId).not.toBe(ahead?.prekeyId);
    expect(row?.notBeforeMs).toBe(due(alice));
  });

  it("is due at once when the account's key changed", () => {
    const alice = registered();
    expect(alice.store.read((tx) => prekeyDueMs(tx, idText(new Uint8Array(32).fill(9))))).toBe(0);
  });
});

describe("destroying", () => {
  it("waits for a drain that began 48 h after the successor was published", () => {
    const alice = registered();
    const first = alice.created.prekey.prekeyId;
    const successorMs = due(alice);
    publish(alice, successorMs);
    expect(drain(alice, successorMs + 48 * hourMs - 1, successorMs + 50 * hourMs)).toBe(0);
    expect(held(alice)).toContain(first);
    expect(drain(alice, successorMs + 48 * hourMs)).toBe(1);
    expect(held(alice)).not.toContain(first);
  });

  it("never destroys the one that is published now, however many drains end", () => {
    const alice = registered();
    for (let day = 1; day <= 40; day++) drain(alice, testNowMs + day * dayMs);
    expect(held(alice)).toEqual([alice.created.prekey.prekeyId]);
  });

  it("keeps about three on a device that is always online, over a month", () => {
    const alice = registered();
    for (let nowMs = testNowMs; nowMs < testNowMs + 30 * dayMs; nowMs += 4 * hourMs) {
      if (nowMs >= due(alice)) publish(alice, nowMs);
      drain(alice, nowMs);
      expect(held(alice).length).toBeLessThanOrEqual(4);
    }
    const current = alice.store.read(currentOwnPrekey);
    expect(held(alice).at(-1)).toBe(current?.prekeyId);
  });

  it("R53: a device that was away for 30 days still opens what was sealed to its old prekey", () => {
    const alice = registered();
    const away = testNowMs + 30 * dayMs;
    const old = alice.created.prekey;
    publish(alice, away);
    // The backlog drains now; the successor is a moment old.
    drain(alice, away);
    const prekeyId = idFromText(old.prekeyId, 8);
    const found = alice.store.read((tx) => openerOf(tx, alice.own.deviceId).findPrekey(prekeyId));
    expect(found).toEqual({ seed: old.seed, aik: alice.own.aik });
  });

  it("ends every prekey at 76 days, drained or not", () => {
    const alice = registered();
    expect(drain(alice, 0, testNowMs + 76 * dayMs - 1)).toBe(0);
    expect(drain(alice, 0, testNowMs + 76 * dayMs)).toBe(1);
    expect(held(alice)).toEqual([]);
  });

  it("remembers the identity key that a prekey was signed under, and finds nothing else", () => {
    const alice = registered();
    const opener = alice.store.read((tx) => openerOf(tx, alice.own.deviceId));
    expect(opener.deviceId).toEqual(alice.own.deviceId);
    expect(opener.findPrekey(new Uint8Array(8))).toBeUndefined();
    const row = at(alice.store.read(ownPrekeys), 0);
    expect(opener.findPrekey(idFromText(row.prekeyId, 8))?.aik).toEqual(alice.own.aik);
  });
});
