/** Invite keys, recovery code, safety number: what people carry between devices by hand. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, label16, utf8 } from "../../../src/shared/bytes.ts";
import { authenticate } from "../../../src/shared/crypto/sodium.ts";
import { inviteKeys, inviteProof, verifyInviteProof } from "../../../src/device/crypto/kdf.ts";
import { encodeRecoveryCode, parseRecoveryCode } from "../../../src/device/crypto/recovery-code.ts";
import {
  fingerprint,
  groupDigits,
  safetyNumber,
} from "../../../src/device/crypto/safety-number.ts";
import { referenceBlake2b, referenceKdf } from "../../reference/blake2b.ts";
import { failureOf, testOrigin, valueOf } from "../../support/people.ts";
import { seededRng } from "../../support/seeded-rng.ts";

const rng = seededRng("codes");

describe("invite keys", () => {
  const secret = rng(32);

  it("are subkeys 1 and 2 of the secret", () => {
    const subkey = { context: "PX1-invt", bytes: 32 };
    expect(inviteKeys(secret)).toEqual({
      inviteKey: referenceKdf(secret, { ...subkey, id: 1 }),
      proofKey: referenceKdf(secret, { ...subkey, id: 2 }),
    });
  });

  it("prove one message, from one guest to one inviter", () => {
    const { proofKey } = inviteKeys(secret);
    const claim = { messageId: rng(16), guestAik: rng(32), inviterAik: rng(32) };
    const proof = inviteProof(proofKey, claim);
    expect(proof).toEqual(
      authenticate(
        proofKey,
        label16("PX1 invite"),
        claim.messageId,
        claim.guestAik,
        claim.inviterAik,
      ),
    );
    expect(verifyInviteProof(proofKey, proof, claim)).toBe(true);
    expect(verifyInviteProof(rng(32), proof, claim)).toBe(false);
    expect(verifyInviteProof(proofKey, proof, { ...claim, messageId: rng(16) })).toBe(false);
    expect(verifyInviteProof(proofKey, proof, { ...claim, guestAik: rng(32) })).toBe(false);
    expect(verifyInviteProof(proofKey, proof, { ...claim, inviterAik: rng(32) })).toBe(false);
    expect(verifyInviteProof(proofKey, proof.slice(1), claim)).toBe(false);
  });
});

describe("recovery code", () => {
  const aikSeed = rng(32);
  const code = encodeRecoveryCode({ aikSeed, relayOrigin: testOrigin });

  it("round-trips, in groups of four of an alphabet without I, L, O and U", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom(testOrigin, "http://127.0.0.1:8080", "https://a.b", "https://a.bc"),
        (seed, relayOrigin) => {
          const text = encodeRecoveryCode({ aikSeed: Uint8Array.from(seed), relayOrigin });
          expect(text).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-)*[0-9A-HJKMNP-TV-Z]{1,4}$/);
          expect(valueOf(parseRecoveryCode(text))).toEqual({
            aikSeed: Uint8Array.from(seed),
            relayOrigin,
          });
        },
      ),
      { numRuns: 50 },
    );
  });

  it("reads what people write", () => {
    const loose = ` ${code.toLowerCase().replaceAll("-", " ").replaceAll("1", "l")}\n`;
    expect(valueOf(parseRecoveryCode(loose)).aikSeed).toEqual(aikSeed);
    const swapped = code.replaceAll("0", "O").replaceAll("1", "i");
    expect(valueOf(parseRecoveryCode(swapped)).aikSeed).toEqual(aikSeed);
  });

  it("ends in the first 4 bytes of a labelled hash", () => {
    const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const bits = Array.from(code.replaceAll("-", ""), (char) =>
      alphabet.indexOf(char).toString(2).padStart(5, "0"),
    ).join("");
    const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (octet) => Number.parseInt(octet, 2));
    const body = concat(Uint8Array.of(1), aikSeed, utf8(testOrigin));
    const check = referenceBlake2b(concat(label16("PX1 recovery"), body), { size: 32 });
    expect(bytes).toEqual(concat(body, check.slice(0, 4)));
  });

  it("notices every mistyped, missing or swapped character, and never repeats it", () => {
    const plain = code.replaceAll("-", "");
    for (let i = 0; i < plain.length; i++) {
      const other = plain[i] === "7" ? "8" : "7";
      const typo = plain.slice(0, i) + other + plain.slice(i + 1);
      const read = parseRecoveryCode(typo);
      expect(failureOf(read)).toBe("recovery-code");
      expect(JSON.stringify(read)).not.toContain(plain.slice(0, 8));
      expect(parseRecoveryCode(plain.slice(0, i) + plain.slice(i + 1)).ok).toBe(false);
    }
    for (const text of ["", "U", "0", "pixie", code.slice(0, 40), `${code}0`]) {
      expect(failureOf(parseRecoveryCode(text))).toBe("recovery-code");
    }
  });

  it("is not written for what is no origin", () => {
    for (const relayOrigin of ["https://relay.example/", "relay.example", ""]) {
      expect(() => encodeRecoveryCode({ aikSeed, relayOrigin })).toThrow(/origin/);
    }
    expect(() => encodeRecoveryCode({ aikSeed: rng(31), relayOrigin: testOrigin })).toThrow(/seed/);
  });
});

function blake2b512(bytes: Uint8Array): Buffer {
  return createHash("blake2b512").update(bytes).digest();
}

describe("safety number", () => {
  const [a, b] = [rng(32), rng(32)];

  it("is one number of 60 digits on both sides", () => {
    const number = safetyNumber(a, b);
    expect(number).toMatch(/^\d{60}$/);
    expect(safetyNumber(b, a)).toBe(number);
    expect([fingerprint(a), fingerprint(b)].toSorted().join("")).toBe(number);
    expect(safetyNumber(a, rng(32))).not.toBe(number);
    expect(groupDigits("1234567890")).toBe("12345 67890");
  });

  it("iterates 5,200 times", () => {
    let hash = blake2b512(concat(label16("PX1 safety"), a));
    for (let i = 0; i < 5_200; i++) hash = blake2b512(concat(hash, a));
    const digits = [0, 1, 2, 3, 4, 5].map((i) =>
      String(hash.readUIntBE(5 * i, 5) % 100_000).padStart(5, "0"),
    );
    expect(fingerprint(a)).toBe(digits.join(""));
  });
});
