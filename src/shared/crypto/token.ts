/**
 * Tokens by which a stranger to the relay shows that a recipient lets him in: keyed with the
 * account's access key (known to contacts) or with one invite's key. The relay learns that some
 * contact sends, never which.
 *
 * The delivery token covers every byte of the upload and the relay it is meant for; the bundle
 * token covers the request it belongs to.
 *
 * Spec: docs/protocol.md "Envelopes" (tokens).
 */
import { concat, label16, u32, u64, u8 } from "../bytes.ts";
import { maxTokenLifetimeMs, uploadPrefixBytes } from "../limits.ts";
import { authenticate, blake2b, verifyAuthentication } from "./sodium.ts";

/** Which key a token was made with. */
export const keyKind = { access: 0, invite: 1 } as const;
export type KeyKind = (typeof keyKind)[keyof typeof keyKind];

/** Bytes of an upload before its token. */
export const tokenOffset = uploadPrefixBytes - 32;

/** What a bundle token covers. `since` is a list version, `expiryMs` relay time. */
export interface BundleClaim {
  readonly accountMailbox: Uint8Array;
  readonly keyKind: KeyKind;
  readonly since: number;
  readonly expiryMs: bigint;
}

/**
 * The bytes that an upload's delivery token authenticates. Computed once and tried against several
 * keys. Units: `upload` is the whole upload, whatever its token field holds.
 */
export function deliveryTokenInput(upload: Uint8Array, originDigest: Uint8Array): Uint8Array {
  return concat(
    label16("PX1 deliver"),
    originDigest,
    upload.subarray(0, tokenOffset),
    blake2b(32, upload.subarray(uploadPrefixBytes)),
  );
}

/** The bytes that a bundle token authenticates. */
export function bundleTokenInput(claim: BundleClaim, originDigest: Uint8Array): Uint8Array {
  return concat(
    label16("PX1 bundle"),
    originDigest,
    claim.accountMailbox,
    u8(claim.keyKind),
    u32(claim.since),
    u64(claim.expiryMs),
  );
}

/** Makes a token. Key and token are 32 bytes. */
export function makeToken(input: Uint8Array, key: Uint8Array): Uint8Array {
  return authenticate(key, input);
}

/** Verifies a token in constant time. */
export function tokenMatches(input: Uint8Array, token: Uint8Array, key: Uint8Array): boolean {
  return verifyAuthentication(key, token, input);
}

/** Whether a token's expiry lies where it may: now < expiry ≤ now + 1 h. Units: ms, relay time. */
export function tokenExpiry(expiryMs: bigint, relayNowMs: number): "valid" | "expired" | "too-far" {
  if (expiryMs <= BigInt(relayNowMs)) return "expired";
  return expiryMs > BigInt(relayNowMs + maxTokenLifetimeMs) ? "too-far" : "valid";
}
