/** Every decoder of foreign bytes and texts answers; none throws, hangs or repairs. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBase64Url, parseUtf8, toBase64Url, utf8 } from "../../../src/shared/bytes.ts";
import { parseCertificate } from "../../../src/shared/crypto/certificate.ts";
import { parseDeviceList } from "../../../src/shared/crypto/device-list.ts";
import { encodeInvite, parseInvite } from "../../../src/shared/crypto/invite.ts";
import { parseRelayOrigin } from "../../../src/shared/crypto/origin.ts";
import { parsePrekey } from "../../../src/shared/crypto/prekey.ts";
import { parseRenewal, signRenewal } from "../../../src/shared/crypto/renewal.ts";
import { newSigningKey } from "../../../src/shared/crypto/sodium.ts";
import { bytesFromUuid, parseId } from "../../../src/shared/ids.ts";
import type { Result } from "../../../src/shared/result.ts";
import { parseItem, parseUpload } from "../../../src/shared/wire/envelope.ts";
import { parseU64 } from "../../../src/shared/wire/fields.ts";
import {
  encodeDelivery,
  parseDelivery,
  parseDeviceFrame,
  parseRelayFrame,
} from "../../../src/shared/wire/frames.ts";
import { openItem } from "../../../src/device/crypto/open.ts";
import { openLinkBox } from "../../../src/device/crypto/link-box.ts";
import {
  parseLinkBundle,
  parseLinkCode,
  signLinkBundle,
} from "../../../src/device/crypto/link-bundle.ts";
import { parseInner } from "../../../src/device/crypto/inner.ts";
import { linkKeys } from "../../../src/device/crypto/kdf.ts";
import { parsePayload } from "../../../src/device/crypto/payload.ts";
import { encodeProfile, parseProfile } from "../../../src/device/crypto/profile.ts";
import { encodeRecoveryCode, parseRecoveryCode } from "../../../src/device/crypto/recovery-code.ts";
import { sealUpload } from "../../../src/device/crypto/seal.ts";
import { innerOf, plaintextOf } from "../../support/forge.ts";
import {
  at,
  createPerson,
  knowing,
  openerOf,
  requestOf,
  sealItem,
  testOrigin,
  valueOf,
} from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("fuzz");
const alice = createPerson(rng, 2);
const device = at(alice.devices, 0);
const bob = createPerson(rng);
const owner = { aik: alice.aik.publicKey, deviceId: device.deviceId, dsk: device.dsk.publicKey };
const item = sealItem(requestOf(alice, bob), rng);
const renewal = signRenewal(
  { oldListVersion: 1, oldListHash: rng(32), issuedMs: 1n },
  alice.aik,
  newSigningKey(rng),
);
const profile = encodeProfile({
  name: "A",
  accessKey: rng(32),
  relay: testOrigin,
  accountMailbox: rng(16),
});
const bundle = signLinkBundle(
  {
    dsk: device.dsk.publicKey,
    xwingPublicKey: rng(1_216),
    deviceId: rng(16),
    mailbox: rng(16),
    name: "T",
  },
  device.dsk.privateKey,
);
const keys = linkKeys(rng(16));

type Decoder = (bytes: Uint8Array) => Result<unknown, { readonly type: string }>;

/** A decoder with a sound input to start mutating from. */
const decoders: Readonly<Record<string, readonly [Uint8Array, Decoder]>> = {
  upload: [valueOf(sealUpload(requestOf(alice, bob), rng)).upload, parseUpload],
  item: [item, parseItem],
  opening: [item, (bytes) => openItem(bytes, openerOf(bob), knowing(alice, "contact"))],
  delivery: [encodeDelivery({ seq: 1n, redelivered: false, item }), parseDelivery],
  list: [alice.list.record, parseDeviceList],
  certificate: [device.certificate.record, parseCertificate],
  prekey: [device.prekey.record, (bytes) => parsePrekey(bytes, owner)],
  renewal: [renewal.record, parseRenewal],
  inner: [plaintextOf(innerOf(alice, bob), rng(32), device), parseInner],
  bundle: [bundle, parseLinkBundle],
  profile: [profile, parseProfile],
  utf8: [utf8("Zoë \u{1f600}"), parseUtf8],
};
const texts: Readonly<
  Record<string, readonly [string, (text: string) => Result<unknown, unknown>]>
> = {
  base64url: [toBase64Url(rng(20)), parseBase64Url],
  id: [toBase64Url(rng(16)), (text) => parseId(text)],
  uuid: ["00010203-0405-0607-0809-0a0b0c0d0e0f", bytesFromUuid],
  u64: ["18446744073709551615", parseU64],
  "device frame": ['{"type":"ack","epoch":"e","seqs":["1"]}', parseDeviceFrame],
  "relay frame": ['{"type":"drained","through":"1"}', parseRelayFrame],
  origin: [testOrigin, parseRelayOrigin],
  invite: [
    encodeInvite({
      inviteId: rng(16),
      secret: rng(32),
      aik: rng(32),
      accountMailbox: rng(16),
      expiryMs: 1n,
      relayOrigin: testOrigin,
    }),
    parseInvite,
  ],
  "link code": [`pixie-link:${toBase64Url(rng(32))}`, parseLinkCode],
  "recovery code": [
    encodeRecoveryCode({ aikSeed: rng(32), relayOrigin: testOrigin }),
    parseRecoveryCode,
  ],
};

/** Random bytes, or sound bytes with a few of them overwritten, cut or repeated. */
function bytesLike(sound: Uint8Array): fc.Arbitrary<Uint8Array> {
  const mutation = fc
    .record({
      edits: fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 4 }),
      start: fc.nat(3),
      end: fc.nat(3),
      repeat: fc.integer({ min: 1, max: 2 }),
    })
    .map(({ edits, start, end, repeat }) => {
      const mutated = sound.slice();
      for (const [offset, value] of edits) mutated[offset] = value;
      const cut = mutated.slice(start, mutated.length - end);
      return repeat === 1 ? cut : Uint8Array.from([...cut, ...cut]);
    });
  return fc.oneof(fc.uint8Array({ maxLength: 300 }), mutation);
}

function textLike(sound: string): fc.Arbitrary<string> {
  const mutation = fc
    .tuple(fc.nat(sound.length - 1), fc.string({ unit: "binary", maxLength: 3 }), fc.nat(3))
    .map(([offset, inserted, skipped]) => {
      return sound.slice(0, offset) + inserted + sound.slice(offset + skipped);
    });
  return fc.oneof(fc.string({ unit: "binary", maxLength: 100 }), mutation);
}

describe("decoders never throw", () => {
  it.each(Object.entries(decoders))("%s", (_name, [sound, decode]) => {
    expect(decode(sound).ok).toBe(true);
    fc.assert(
      fc.property(bytesLike(sound), (bytes) => {
        const before = Uint8Array.from(bytes);
        const result = decode(bytes);
        expect(typeof (result.ok ? "ok" : result.error.type)).toBe("string");
        expect(Buffer.compare(bytes, before)).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it.each(Object.entries(texts))("%s", (_name, [sound, decode]) => {
    expect(decode(sound).ok).toBe(true);
    fc.assert(
      fc.property(textLike(sound), (text) => {
        expect(typeof decode(text).ok).toBe("boolean");
      }),
      { numRuns: 200 },
    );
  });

  it("payloads of every tag", () => {
    fc.assert(
      fc.property(fc.nat(255), fc.uint8Array({ maxLength: 300 }), (tag, content) => {
        const result = parsePayload(tag, content, alice.aik.publicKey);
        expect(result.ok ? "ok" : result.error.type).toMatch(/^(ok|content|utf8)$/);
      }),
      { numRuns: 500 },
    );
  });

  it("link boxes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(1, 2, 3, 4), (bytes, box) => {
        expect(openLinkBox(keys, box, bytes)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});
