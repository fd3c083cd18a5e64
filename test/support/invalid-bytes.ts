/**
 * Items that are wrong as bytes: in form, header, body, inner plaintext or a signature. Refused
 * before anybody asks who the sender is.
 */
import { concat, u32, u8, utf8 } from "../../src/shared/bytes.ts";
import type { Inner } from "../../src/device/crypto/inner.ts";
import type { OpenFailureCode } from "../../src/device/crypto/open.ts";
import { twoKeyBody } from "../reference/two-key-body.ts";
import { flip, type Forgery, forgeBody, forgeItem, innerOf, plaintextOf } from "./forge.ts";
import {
  fromContact,
  honestPlaintext,
  type InvalidItem,
  type Row,
  type World,
} from "./invalid-world.ts";
import { at, requestOf, sealItem, type TestDevice } from "./people.ts";

/** The entries, in the order of the checks. */
export function invalidBytes(world: World): readonly InvalidItem[] {
  return [formCases, headerCases, bodyCases, innerCases, signatureCases].flatMap((cases) =>
    cases(world),
  );
}

function formCases(world: World): InvalidItem[] {
  const { honest } = world;
  return fromContact(world, [
    ["version", "no byte at all", new Uint8Array(0)],
    ["version", "version 2", concat(u8(2), honest.slice(1))],
    ["bucket", "bucket 5", concat(u8(1), u8(5), honest.slice(2))],
    ["bucket", "only a version", u8(1)],
    ["length", "cut by one byte", honest.slice(0, -1)],
    ["length", "longer by one byte", concat(honest, u8(0))],
    ["length", "the length of another bucket", concat(u8(1), u8(1), honest.slice(2))],
  ]);
}

function headerCases(world: World): InvalidItem[] {
  const { honest, rng, alice, bob, carol } = world;
  const smallOrder = honest.slice();
  smallOrder.fill(0, 2 + 8 + 1_088, 2 + 8 + 1_120);
  const another = sealItem(requestOf(alice, bob, { content: utf8("another") }), rng);
  const spliced = concat(honest.slice(0, 1_178), another.slice(1_178));
  const toSecond = sealItem(requestOf(alice, { ...bob, devices: [at(bob.devices, 1)] }), rng);
  const plaintext = honestPlaintext(world);
  const forge = (forgery: Forgery): Uint8Array =>
    forgeItem(bob, { contentKey: world.contentKey, plaintext, ...forgery }, rng);
  return fromContact(world, [
    ["prekey-unknown", "an unknown prekey id", flip(honest, 2)],
    ["prekey-unknown", "sealed to a sibling", toSecond],
    ["prekey-unknown", "sealed to another account", sealItem(requestOf(alice, carol), rng)],
    ["header", "a changed ML-KEM ciphertext", flip(honest, 2 + 8)],
    ["header", "a changed X25519 share", flip(honest, 2 + 8 + 1_100)],
    ["header", "a small-order X25519 share", smallOrder],
    ["header", "a changed sealed key", flip(honest, 2 + 8 + 1_120)],
    ["header", "a changed commitment", flip(honest, 1_178)],
    ["header", "the body of another message", spliced],
    ["header", "bound to another device", forge({ headerDeviceId: rng(16) })],
    ["header", "bound to another account", forge({ headerAik: carol.aik.publicKey })],
  ]);
}

function bodyCases(world: World): InvalidItem[] {
  const { honest, rng, bob, carol, contentKey } = world;
  const plaintext = honestPlaintext(world);
  const forge = (forgery: Forgery): Uint8Array =>
    forgeItem(bob, { contentKey, plaintext, ...forgery }, rng);
  const sound = forgeBody(bob, contentKey, { plaintext });
  const twoKeys = twoKeyBody(bob.aik.publicKey, rng);
  return fromContact(world, [
    [
      "commitment",
      "the second key of a two-key ciphertext",
      forge({ contentKey: twoKeys.contentKeys[1], body: twoKeys.body }),
    ],
    ["commitment", "a commitment to another key", forge({ body: flip(sound, 0) })],
    ["commitment", "a changed tag", flip(honest, -1)],
    ["commitment", "a body for another account", forge({ bodyAik: carol.aik.publicKey })],
    ["commitment", "a body for another bucket", forge({ bodyBucket: 1 })],
    ["body", "a changed ciphertext", flip(honest, 1_210)],
    ["body", "a changed last block", flip(honest, -17)],
    ["padding", "no padding", forge({ padded: new Uint8Array(1_024) })],
    ["padding", "another padding byte", forge({ padded: padWith(plaintext, 0x81) })],
  ]);
}

function innerCases(world: World): InvalidItem[] {
  const { rng, bob, contentKey } = world;
  const plaintext = honestPlaintext(world);
  const withLength = (length: number): Uint8Array =>
    concat(plaintext.slice(0, 228), u32(length), plaintext.slice(232));
  const rows: [OpenFailureCode, string, Uint8Array][] = [
    ["inner-version", "an empty plaintext", new Uint8Array(0)],
    ["inner-version", "inner version 2", concat(u8(2), plaintext.slice(1))],
    ["inner-length", "a plaintext of one byte", u8(1)],
    ["inner-length", "295 bytes of plaintext", plaintext.slice(0, 295)],
    ["inner-length", "a content length that is too large", withLength(6)],
    ["inner-length", "a content length that is too small", withLength(4)],
    ["inner-length", "a content length of 2^32 - 1", withLength(0xffffffff)],
    ["inner-length", "a byte after the signature", concat(plaintext, u8(0))],
  ];
  return fromContact(
    world,
    rows.map(([code, name, bytes]) => [
      code,
      name,
      forgeItem(bob, { contentKey, plaintext: bytes }, rng),
    ]),
  );
}

function signatureCases(world: World): InvalidItem[] {
  const { rng, alice, bob, carol, contentKey } = world;
  const [first, second] = [at(alice.devices, 0), at(alice.devices, 1)];
  const forCarol = plaintextOf(innerOf(alice, carol), contentKey, first);
  const patched = concat(forCarol.slice(0, 28), bob.aik.publicKey, forCarol.slice(60));
  const plaintext = honestPlaintext(world);
  const signed = (inner: Partial<Inner>, by: TestDevice = first): Uint8Array =>
    plaintextOf(innerOf(alice, bob, inner), contentKey, by);
  const { record } = first.certificate;
  const forged = record.slice();
  forged.set(at(carol.devices, 0).dsk.publicKey, 48);
  const foreign = record.slice();
  foreign.set(carol.aik.publicKey, 0);
  const carolDevice = at(carol.devices, 0);
  const rows: [OpenFailureCode, string, Uint8Array][] = [
    ["recipient", "Carol re-wraps what Alice wrote to her", forCarol],
    ["signature", "Carol re-wraps it and names Bob", patched],
    ["certificate", "a changed certificate", signed({ certificate: flip(record, 90) })],
    [
      "certificate",
      "a certificate with Carol's signing key",
      signed({ certificate: forged }, carolDevice),
    ],
    ["certificate", "a certificate with Carol's identity key", signed({ certificate: foreign })],
    [
      "signature",
      "another device's certificate",
      signed({ certificate: second.certificate.record }),
    ],
    ["signature", "Carol signs under Alice's certificate", signed({}, carolDevice)],
    ["signature", "a changed text", flip(plaintext, 232)],
    ["signature", "a changed type tag", flip(plaintext, 1)],
    ["signature", "a changed signature", flip(plaintext, -1)],
  ];
  const otherKey = plaintextOf(innerOf(alice, bob), rng(32), first);
  return fromContact(world, [
    ...rows.map(([code, name, bytes]): Row => [
      code,
      name,
      forgeItem(bob, { contentKey, plaintext: bytes }, rng),
    ]),
    [
      "signature",
      "signed under another content key",
      forgeItem(bob, { contentKey, plaintext: otherKey }, rng),
    ],
  ]);
}

function padWith(plaintext: Uint8Array, byte: number): Uint8Array {
  const padded = new Uint8Array(1_024);
  padded.set(plaintext);
  padded[plaintext.length] = byte;
  return padded;
}
