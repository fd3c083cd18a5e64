/**
 * Items that are sound as bytes and signed by who they say, and that must be refused for who that
 * is, for what it may send, or for what the content says.
 */
import { concat, u64, u8, utf8 } from "../../src/shared/bytes.ts";
import { signRenewal } from "../../src/shared/crypto/renewal.ts";
import { newSigningKey } from "../../src/shared/crypto/sodium.ts";
import type { Inner } from "../../src/device/crypto/inner.ts";
import type { OpenFailureCode } from "../../src/device/crypto/open.ts";
import { encodeOwnKeys } from "../../src/device/crypto/payload.ts";
import { encodeProfile } from "../../src/device/crypto/profile.ts";
import { payloadTag, type Relation } from "../../src/device/crypto/type-rules.ts";
import { flip, forgeItem, innerOf, plaintextOf } from "./forge.ts";
import type { InvalidItem, World } from "./invalid-world.ts";
import { at, entryFor, nextList, type TestDevice, testOrigin } from "./people.ts";

/** The entries, in the order of the checks. */
export function invalidPayloads(world: World): readonly InvalidItem[] {
  return [senderCases, typeCases, contentCases].flatMap((cases) => cases(world));
}

function senderCases(world: World): InvalidItem[] {
  const { alice, list } = world;
  const by = (index: number): Uint8Array => sealed(world, {}, at(alice.devices, index));
  const lists = [list];
  return [
    { name: "a blocked sender", code: "blocked", item: by(0), relation: "blocked", lists },
    { name: "a renewed key", code: "aik-renewed", item: by(0), relation: "renewed", lists },
    {
      name: "a device not in the list",
      code: "device-missing",
      item: by(2),
      relation: "contact",
      lists,
    },
    {
      name: "a device with another key",
      code: "device-key",
      item: by(3),
      relation: "contact",
      lists,
    },
    { name: "a revoked device", code: "device-revoked", item: by(1), relation: "contact", lists },
    {
      name: "a device that one side of a fork revoked",
      code: "device-revoked",
      item: by(1),
      relation: "contact",
      lists: [alice.list, list],
    },
  ];
}

function typeCases(world: World): InvalidItem[] {
  const { alice, list, rng } = world;
  const certificate = at(alice.devices, 0).certificate.record;
  const profile = profileOf(world);
  const accept = concat(rng(16), rng(32), profile);
  const rows: [Relation, string, number, Uint8Array][] = [
    ["unknown", "a receipt from a stranger", payloadTag.receipt, rng(16)],
    ["unknown", "a list from a stranger", payloadTag.deviceList, list.record],
    ["unknown", "a profile from a stranger", payloadTag.profile, profile],
    ["unknown", "an echo from a stranger", payloadTag.echo, rng(32)],
    ["unknown", "a resend request from a stranger", payloadTag.resendSince, u64(1n)],
    [
      "unknown",
      "a stranger's contact-accept without an open invite",
      payloadTag.contactAccept,
      accept,
    ],
    ["unknown", "a stranger's contact-accept that is cut", payloadTag.contactAccept, rng(47)],
    ["unknown", "an unassigned tag from a stranger", 5, rng(4)],
    ["contact", "an echo from a contact", payloadTag.echo, rng(32)],
    ["contact", "own keys from a contact", payloadTag.ownKeys, encodeOwnKeys(certificate)],
    ["contact", "a sync from a contact", payloadTag.sync, utf8('{"kind":"settings"}')],
    ["self", "a contact-accept from my own account", payloadTag.contactAccept, accept],
  ];
  const cases = rows.map(([relation, name, typeTag, content]): InvalidItem => ({
    name,
    code: "type-not-allowed",
    item: sealed(world, { typeTag, content }),
    relation,
    lists: relation === "unknown" ? [] : [list],
  }));
  const demoted = nextList(alice, [
    entryFor(at(alice.devices, 0), false),
    entryFor(at(alice.devices, 1), true),
  ]);
  const ownKeys = sealed(world, {
    typeTag: payloadTag.ownKeys,
    content: encodeOwnKeys(certificate),
  });
  return [
    ...cases,
    {
      name: "own keys from a sibling that is not admin",
      code: "type-not-allowed",
      item: ownKeys,
      relation: "self",
      lists: [demoted],
    },
    {
      name: "own keys from a sibling that my list does not hold yet",
      code: "type-not-allowed",
      item: ownKeys,
      relation: "self",
      lists: [],
    },
  ];
}

function contentCases(world: World): InvalidItem[] {
  const { alice, carol, list, rng } = world;
  const next = newSigningKey(rng);
  const fields = { oldListVersion: 2, oldListHash: list.hash, issuedMs: 5n };
  const certificate = at(alice.devices, 0).certificate.record;
  const cut = Uint8Array.of(0xf0, 0x9f, 0x98);
  const rows: [OpenFailureCode, string, number, Uint8Array][] = [
    ["content", "a receipt of no id", payloadTag.receipt, new Uint8Array(0)],
    ["content", "a receipt of one and a half ids", payloadTag.receipt, rng(24)],
    ["content", "a receipt of 33 ids", payloadTag.receipt, rng(33 * 16)],
    ["content", "a damaged device list", payloadTag.deviceList, flip(list.record, 50)],
    ["content", "another account's device list", payloadTag.deviceList, carol.list.record],
    ["content", "a profile that is no JSON", payloadTag.profile, utf8("{")],
    ["content", "a profile without a relay", payloadTag.profile, utf8('{"name":"A"}')],
    ["content", "an echo of 31 bytes", payloadTag.echo, rng(31)],
    ["content", "a resend request of 7 bytes", payloadTag.resendSince, rng(7)],
    [
      "content",
      "a damaged renewal",
      payloadTag.renewal,
      flip(signRenewal(fields, alice.aik, next).record, 120),
    ],
    [
      "content",
      "another account's renewal",
      payloadTag.renewal,
      signRenewal(fields, carol.aik, next).record,
    ],
    ["content", "own keys with flag 2", payloadTag.ownKeys, concat(certificate, u8(2), rng(32))],
    ["content", "own keys without the seed", payloadTag.ownKeys, concat(certificate, u8(1))],
    [
      "content",
      "own keys with another seed",
      payloadTag.ownKeys,
      encodeOwnKeys(certificate, rng(32)),
    ],
    [
      "content",
      "own keys with a damaged certificate",
      payloadTag.ownKeys,
      encodeOwnKeys(flip(certificate, 3)),
    ],
    ["content", "a sync that is an array", payloadTag.sync, utf8('["kind"]')],
    ["content", "a sync without a kind", payloadTag.sync, utf8("{}")],
    ["utf8", "a cut emoji", payloadTag.message, cut],
    ["utf8", "a surrogate in UTF-8", payloadTag.message, Uint8Array.of(0xed, 0xa0, 0xbd)],
    ["utf8", "an overlong NUL", payloadTag.message, Uint8Array.of(0xc0, 0x80)],
    ["utf8", "a profile in Latin-1", payloadTag.profile, Uint8Array.of(0x7b, 0xe9, 0x7d)],
    ["utf8", "an echo of a cut emoji", payloadTag.echo, concat(rng(32), cut)],
    ["utf8", "a sync that is cut", payloadTag.sync, cut],
  ];
  return rows.map(([code, name, typeTag, content]) => ({
    name,
    code,
    item: sealed(world, { typeTag, content }),
    relation: "self",
    lists: [list],
  }));
}

function sealed(
  world: World,
  inner: Partial<Inner>,
  by: TestDevice = at(world.alice.devices, 0),
): Uint8Array {
  const { alice, bob, contentKey, rng } = world;
  const plaintext = plaintextOf(innerOf(alice, bob, { ...inner, device: by }), contentKey, by);
  return forgeItem(bob, { contentKey, plaintext }, rng);
}

function profileOf({ alice }: World): Uint8Array {
  const { accessKey, accountMailbox } = alice;
  return encodeProfile({ name: "Alice", accessKey, relay: testOrigin, accountMailbox });
}
