/**
 * The safety number: 60 digits that two people compare to know that no key was swapped between
 * them. Each half is slow to compute on purpose, so that a look-alike key costs 5,200 hashes a try.
 *
 * Spec: docs/protocol.md "Safety number".
 */
import { concat, label16 } from "../../shared/bytes.ts";
import { blake2b } from "../../shared/crypto/sodium.ts";

const iterations = 5_200;
const groups = 6;

/** The 30 digits of one account, as shown while linking. */
export function fingerprint(aik: Uint8Array): string {
  let hash = blake2b(64, concat(label16("PX1 safety"), aik));
  for (let i = 0; i < iterations; i++) hash = blake2b(64, hash, aik);
  return Array.from({ length: groups }, (_, i) => digitsOf(hash.subarray(5 * i, 5 * i + 5))).join(
    "",
  );
}

/** The 60 digits of two accounts: the same on both sides. */
export function safetyNumber(aikA: Uint8Array, aikB: Uint8Array): string {
  const [a, b] = [fingerprint(aikA), fingerprint(aikB)];
  return a < b ? a + b : b + a;
}

/** Groups of five digits, as people read them to each other. */
export function groupDigits(digits: string): string {
  return (digits.match(/.{1,5}/g) ?? []).join(" ");
}

function digitsOf(bytes: Uint8Array): string {
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return String(value % 100_000).padStart(5, "0");
}
