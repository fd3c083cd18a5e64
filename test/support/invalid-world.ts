/**
 * The people that the catalogue of invalid items is about, and the shape of its entries.
 *
 * Alice writes to Bob. Alice's list version 2 has her second device revoked; her third is not in it,
 * and her fourth is listed with another signing key.
 */
import { type DeviceList, deviceState } from "../../src/shared/crypto/device-list.ts";
import { newSigningKey } from "../../src/shared/crypto/sodium.ts";
import type { Rng } from "../../src/shared/rng.ts";
import type { OpenFailureCode } from "../../src/device/crypto/open.ts";
import type { Relation } from "../../src/device/crypto/type-rules.ts";
import { innerOf, plaintextOf } from "./forge.ts";
import {
  at,
  createPerson,
  entryFor,
  nextList,
  requestOf,
  sealItem,
  type TestPerson,
} from "./people.ts";

/** One item that must not open, and what its recipient knows about the sender. */
export interface InvalidItem {
  readonly name: string;
  readonly code: OpenFailureCode;
  readonly item: Uint8Array;
  readonly relation: Relation;
  readonly lists: readonly DeviceList[];
}

/** Who takes part, and what everybody uses. */
export interface World {
  readonly rng: Rng;
  readonly alice: TestPerson;
  readonly bob: TestPerson;
  readonly carol: TestPerson;
  readonly list: DeviceList;
  readonly honest: Uint8Array;
  readonly contentKey: Uint8Array;
}

/** Draws the people: Alice with four devices, Bob with two, Carol with one. */
export function createWorld(rng: Rng): World {
  const alice = createPerson(rng, 4);
  const bob = createPerson(rng, 2);
  const carol = createPerson(rng);
  const list = nextList(alice, [
    entryFor(at(alice.devices, 0), true),
    { ...entryFor(at(alice.devices, 1), false), state: deviceState.revoked },
    { ...entryFor(at(alice.devices, 3), false), dsk: newSigningKey(rng).publicKey },
  ]);
  const honest = sealItem(requestOf(alice, bob), rng);
  return { rng, alice, bob, carol, list, honest, contentKey: rng(32) };
}

/** Code, name and item of an entry whose sender is a contact with the newest list. */
export type Row = readonly [code: OpenFailureCode, name: string, item: Uint8Array];

/** Entries from a contact. */
export function fromContact(world: World, rows: readonly Row[]): InvalidItem[] {
  return rows.map(([code, name, item]) => ({
    name,
    code,
    item,
    relation: "contact",
    lists: [world.list],
  }));
}

/** The plaintext that most entries are a variation of. */
export function honestPlaintext(world: World): Uint8Array {
  return plaintextOf(innerOf(world.alice, world.bob), world.contentKey, at(world.alice.devices, 0));
}
