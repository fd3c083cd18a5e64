/** Certificate, prekey, renewal, and the two signatures by which a relay knows its accounts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, u64 } from "../../../src/shared/bytes.ts";
import {
  certificateBytes,
  parseCertificate,
  signCertificate,
} from "../../../src/shared/crypto/certificate.ts";
import {
  parsePrekey,
  prekeyAge,
  prekeyBytes,
  prekeyId,
  signPrekey,
} from "../../../src/shared/crypto/prekey.ts";
import {
  signChallenge,
  signRegistration,
  verifyChallenge,
  verifyRegistration,
} from "../../../src/shared/crypto/relay-auth.ts";
import { parseRenewal, renewalBytes, signRenewal } from "../../../src/shared/crypto/renewal.ts";
import {
  authenticate,
  blake2b,
  newSigningKey,
  sign,
  verify,
  verifyAuthentication,
  wipe,
} from "../../../src/shared/crypto/sodium.ts";
import { maxPrekeyAgeMs, maxPrekeyLeadMs } from "../../../src/shared/limits.ts";
import { failureOf, testNowMs, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("records");
const aik = newSigningKey(rng);
const dsk = newSigningKey(rng);
const other = newSigningKey(rng);
const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const version = fc.nat(0xffffffff);

/** Every byte of a record flipped once, one bit each. */
function flips(record: Uint8Array): Uint8Array[] {
  return Array.from(record, (byte, i) => {
    const flipped = record.slice();
    flipped[i] = byte ^ (1 << (i % 8));
    return flipped;
  });
}

function le(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

function fromLe(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

describe("certificate", () => {
  const certificate = signCertificate(
    { aik: aik.publicKey, deviceId: rng(16), dsk: dsk.publicKey, listVersion: 3, issuedMs: 9n },
    aik.privateKey,
  );

  it("round-trips in 156 bytes", () => {
    fc.assert(
      fc.property(version, time, (listVersion, issuedMs) => {
        const made = signCertificate({ ...certificate, listVersion, issuedMs }, aik.privateKey);
        expect(made.record).toHaveLength(certificateBytes);
        expect(valueOf(parseCertificate(made.record))).toEqual(made);
      }),
      { numRuns: 20 },
    );
  });

  it("refuses every flipped byte, and every other length", () => {
    for (const flipped of flips(certificate.record)) {
      expect(failureOf(parseCertificate(flipped))).toBe("certificate");
    }
    for (const bytes of [new Uint8Array(0), certificate.record.slice(1), rng(157)]) {
      expect(failureOf(parseCertificate(bytes))).toBe("certificate");
    }
  });
});

describe("prekey", () => {
  const owner = { aik: aik.publicKey, deviceId: rng(16), dsk: dsk.publicKey };
  const prekey = signPrekey(
    { deviceId: owner.deviceId, notBeforeMs: BigInt(testNowMs), publicKey: rng(1_216) },
    aik.publicKey,
    dsk.privateKey,
  );

  it("round-trips in 1,305 bytes, named by the hash of its key", () => {
    fc.assert(
      fc.property(time, (notBeforeMs) => {
        const made = signPrekey({ ...prekey, notBeforeMs }, aik.publicKey, dsk.privateKey);
        expect(made.record).toHaveLength(prekeyBytes);
        expect(valueOf(parsePrekey(made.record, owner))).toEqual(made);
      }),
      { numRuns: 20 },
    );
    expect(prekey.id).toEqual(blake2b(32, prekey.publicKey).slice(0, 8));
    expect(prekeyId(prekey.publicKey)).toEqual(prekey.id);
  });

  it("refuses every flipped byte", () => {
    for (const flipped of flips(prekey.record)) expect(parsePrekey(flipped, owner).ok).toBe(false);
    expect(failureOf(parsePrekey(prekey.record.slice(1), owner))).toBe("prekey-malformed");
  });

  it("belongs to one device, one account and one signing key", () => {
    expect(failureOf(parsePrekey(prekey.record, { ...owner, deviceId: rng(16) }))).toBe(
      "prekey-device",
    );
    expect(failureOf(parsePrekey(prekey.record, { ...owner, aik: other.publicKey }))).toBe(
      "prekey-signature",
    );
    expect(failureOf(parsePrekey(prekey.record, { ...owner, dsk: other.publicKey }))).toBe(
      "prekey-signature",
    );
  });

  it("is usable for 45 days, and one hour before its time", () => {
    const age = (offsetMs: number): string => prekeyAge(prekey, testNowMs + offsetMs);
    expect(age(0)).toBe("usable");
    expect(age(maxPrekeyAgeMs)).toBe("usable");
    expect(age(maxPrekeyAgeMs + 1)).toBe("stale");
    expect(age(-maxPrekeyLeadMs)).toBe("usable");
    expect(age(-maxPrekeyLeadMs - 1)).toBe("future");
    expect(prekeyAge({ ...prekey, notBeforeMs: 2n ** 64n - 1n }, testNowMs)).toBe("future");
  });
});

describe("renewal", () => {
  const fields = { oldListVersion: 4, oldListHash: rng(32), issuedMs: 11n };

  it("round-trips in 236 bytes, signed by both keys over the first 108", () => {
    const renewal = signRenewal(fields, aik, other);
    expect(renewal.record).toHaveLength(renewalBytes);
    expect(valueOf(parseRenewal(renewal.record))).toEqual(renewal);
    const unsigned = renewal.record.slice(0, 108);
    expect(renewal.record.slice(108)).toEqual(
      concat(
        sign(aik.privateKey, "PX1 renewal", unsigned),
        sign(other.privateKey, "PX1 renewal", unsigned),
      ),
    );
  });

  it("refuses every flipped byte, other lengths, and one signature twice", () => {
    const { record } = signRenewal(fields, aik, other);
    for (const flipped of flips(record)) expect(failureOf(parseRenewal(flipped))).toBe("renewal");
    expect(failureOf(parseRenewal(record.slice(1)))).toBe("renewal");
    const oldTwice = concat(record.slice(0, 172), record.slice(108, 172));
    expect(failureOf(parseRenewal(oldTwice))).toBe("renewal");
    const newTwice = concat(record.slice(0, 108), record.slice(172), record.slice(172));
    expect(failureOf(parseRenewal(newTwice))).toBe("renewal");
  });
});

describe("signatures for the relay", () => {
  const registration = { originDigest: rng(32), listHash: rng(32), accessKey: rng(32) };
  const challenge = { originDigest: rng(32), nonce: rng(32), deviceId: rng(16), timeMs: 5n };

  it("covers every field of a registration", () => {
    const signature = signRegistration(registration, aik.privateKey);
    expect(verifyRegistration(registration, aik.publicKey, signature)).toBe(true);
    for (const field of ["originDigest", "listHash", "accessKey"] as const) {
      const changed = { ...registration, [field]: rng(32) };
      expect(verifyRegistration(changed, aik.publicKey, signature)).toBe(false);
    }
    expect(verifyRegistration(registration, other.publicKey, signature)).toBe(false);
    const input = concat(
      registration.originDigest,
      registration.listHash,
      blake2b(32, registration.accessKey),
    );
    expect(signature).toEqual(sign(aik.privateKey, "PX1 register", input));
  });

  it("covers every field of a challenge", () => {
    const signature = signChallenge(challenge, dsk.privateKey);
    expect(verifyChallenge(challenge, dsk.publicKey, signature)).toBe(true);
    const changes = [
      { originDigest: rng(32) },
      { nonce: rng(32) },
      { deviceId: rng(16) },
      { timeMs: 6n },
    ];
    for (const change of changes) {
      expect(verifyChallenge({ ...challenge, ...change }, dsk.publicKey, signature)).toBe(false);
    }
    const { originDigest, nonce, deviceId } = challenge;
    const input = concat(originDigest, nonce, deviceId, u64(5n));
    expect(signature).toEqual(sign(dsk.privateKey, "PX1 relay-auth", input));
  });
});

describe("signature verification is strict", () => {
  // L, the order of the group, little-endian: S + L is the malleable twin of S.
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const identity = le(1n);
  const smallOrder = [
    identity,
    le(0n),
    le(2n ** 255n - 20n),
    Uint8Array.from(
      Buffer.from("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "hex"),
    ),
    Uint8Array.from(
      Buffer.from("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "hex"),
    ),
  ];

  it("refuses the malleable twin of a signature", () => {
    const signature = sign(aik.privateKey, "PX1 test", rng(10));
    const message = rng(10);
    const good = sign(aik.privateKey, "PX1 test", message);
    const twin = concat(good.slice(0, 32), le(fromLe(good.slice(32)) + order));
    expect(signature).toHaveLength(64);
    expect(verify(aik.publicKey, good, "PX1 test", message)).toBe(true);
    expect(verify(aik.publicKey, twin, "PX1 test", message)).toBe(false);
  });

  it("refuses small-order keys and commitments, whatever the message", () => {
    for (const point of smallOrder) {
      for (let i = 0; i < 16; i++) {
        const message = rng(8);
        expect(verify(point, concat(point, le(0n)), "PX1 test", message)).toBe(false);
        expect(verify(point, concat(identity, le(0n)), "PX1 test", message)).toBe(false);
      }
    }
  });

  it("refuses keys and signatures of other lengths", () => {
    const signature = sign(aik.privateKey, "PX1 test");
    expect(verify(aik.publicKey.slice(1), signature, "PX1 test")).toBe(false);
    expect(verify(aik.publicKey, signature.slice(1), "PX1 test")).toBe(false);
  });
});

describe("keyed authentication", () => {
  it("verifies its own tags only", () => {
    const authKey = rng(32);
    const tag = authenticate(authKey, Uint8Array.of(1), Uint8Array.of(2));
    expect(verifyAuthentication(authKey, tag, Uint8Array.of(1, 2))).toBe(true);
    expect(verifyAuthentication(authKey, tag, Uint8Array.of(1, 3))).toBe(false);
    expect(verifyAuthentication(rng(32), tag, Uint8Array.of(1, 2))).toBe(false);
    expect(verifyAuthentication(authKey, tag.slice(1), Uint8Array.of(1, 2))).toBe(false);
  });

  it("wipes", () => {
    const secret = Uint8Array.of(1, 2, 3);
    wipe(secret);
    expect(secret).toEqual(new Uint8Array(3));
  });
});
