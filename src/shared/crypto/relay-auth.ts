/**
 * The signatures by which the relay knows its own accounts and devices: registration and recovery (by
 * the account) and the answer to a challenge (by the device). All bind the relay's origin.
 *
 * Spec: docs/protocol.md "Relay interface".
 */
import { concat, u64 } from "../bytes.ts";
import { blake2b, sign, verify } from "./sodium.ts";

const registerLabel = "PX1 register";
const recoverAskLabel = "PX1 recover-ask";
const recoverLabel = "PX1 recover";
const challengeLabel = "PX1 relay-auth";

/** What a registration's or a recovery's signature covers. */
export interface RegistrationClaim {
  readonly originDigest: Uint8Array;
  /** Hash of device list version 1; of the next list in a recovery. */
  readonly listHash: Uint8Array;
  readonly accessKey: Uint8Array;
}

/** What asking for an account's chain covers. `timeMs` is relay time. */
export interface RecoverAskClaim {
  readonly originDigest: Uint8Array;
  readonly timeMs: bigint;
}

/** What the answer to a challenge covers. `timeMs` is the challenge's own time. */
export interface ChallengeClaim {
  readonly originDigest: Uint8Array;
  readonly nonce: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly timeMs: bigint;
}

/** Signs a registration with the account's private key. */
export function signRegistration(claim: RegistrationClaim, aikPrivateKey: Uint8Array): Uint8Array {
  return sign(aikPrivateKey, registerLabel, registrationBytes(claim));
}

/** Verifies a registration. */
export function verifyRegistration(
  claim: RegistrationClaim,
  aik: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(aik, signature, registerLabel, registrationBytes(claim));
}

/** Signs a recovery with the account's private key. */
export function signRecovery(claim: RegistrationClaim, aikPrivateKey: Uint8Array): Uint8Array {
  return sign(aikPrivateKey, recoverLabel, registrationBytes(claim));
}

/** Verifies a recovery. */
export function verifyRecovery(
  claim: RegistrationClaim,
  aik: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(aik, signature, recoverLabel, registrationBytes(claim));
}

/** Signs the question for an account's chain with the account's private key. */
export function signRecoverAsk(claim: RecoverAskClaim, aikPrivateKey: Uint8Array): Uint8Array {
  return sign(aikPrivateKey, recoverAskLabel, recoverAskBytes(claim));
}

/** Verifies the question for an account's chain. */
export function verifyRecoverAsk(
  claim: RecoverAskClaim,
  aik: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(aik, signature, recoverAskLabel, recoverAskBytes(claim));
}

/** Signs a challenge with the device's private key. */
export function signChallenge(claim: ChallengeClaim, dskPrivateKey: Uint8Array): Uint8Array {
  return sign(dskPrivateKey, challengeLabel, challengeBytes(claim));
}

/** Verifies the answer to a challenge. */
export function verifyChallenge(
  claim: ChallengeClaim,
  dsk: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(dsk, signature, challengeLabel, challengeBytes(claim));
}

function registrationBytes(claim: RegistrationClaim): Uint8Array {
  return concat(claim.originDigest, claim.listHash, blake2b(32, claim.accessKey));
}

function recoverAskBytes(claim: RecoverAskClaim): Uint8Array {
  return concat(claim.originDigest, u64(claim.timeMs));
}

function challengeBytes(claim: ChallengeClaim): Uint8Array {
  return concat(claim.originDigest, claim.nonce, claim.deviceId, u64(claim.timeMs));
}
