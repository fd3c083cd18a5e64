/**
 * The signed prekey: an X-Wing public key that a device publishes, so that others can seal to it
 * while it is away. The relay stores and serves it; only the device holds the private half.
 *
 * Spec: docs/protocol.md "Records" (prekey: 1,305 bytes, label `PX1 signed-prek`; the account's key is
 * signed along, so that a prekey cannot be moved between accounts).
 */
import { ByteReader, clampU64, concat, equalBytes, u64, u8 } from "../bytes.ts";
import { maxPrekeyAgeMs, maxPrekeyLeadMs, protocolVersion } from "../limits.ts";
import { err, ok, type Result } from "../result.ts";
import { blake2b, sign, signatureBytes, verify } from "./sodium.ts";

const label = "PX1 signed-prek";

/** Bytes of a prekey record and of the X-Wing public key in it. */
export const prekeyBytes = 1_305;
export const xwingPublicKeyBytes = 1_216;

/** What a device signs. `notBeforeMs` is relay time. */
export interface PrekeyContent {
  readonly deviceId: Uint8Array;
  readonly notBeforeMs: bigint;
  readonly publicKey: Uint8Array;
}

/** A prekey whose signature was verified. */
export interface Prekey extends PrekeyContent {
  readonly record: Uint8Array;
  /** First 8 bytes of BLAKE2b-256 of the public key. */
  readonly id: Uint8Array;
}

/** Who a prekey must belong to. */
export interface PrekeyOwner {
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly dsk: Uint8Array;
}

export type PrekeyError = {
  readonly type: "prekey-malformed" | "prekey-device" | "prekey-signature";
};

/** Id of a prekey. */
export function prekeyId(publicKey: Uint8Array): Uint8Array {
  return blake2b(32, publicKey).slice(0, 8);
}

/** Signs a prekey with the device's private key. */
export function signPrekey(
  content: PrekeyContent,
  aik: Uint8Array,
  dskPrivateKey: Uint8Array,
): Prekey {
  const unsigned = concat(
    u8(protocolVersion),
    content.deviceId,
    u64(content.notBeforeMs),
    content.publicKey,
  );
  const record = concat(unsigned, sign(dskPrivateKey, label, aik, unsigned));
  return { ...content, record, id: prekeyId(content.publicKey) };
}

/** Parses a prekey and verifies that `owner` signed it. */
export function parsePrekey(record: Uint8Array, owner: PrekeyOwner): Result<Prekey, PrekeyError> {
  if (record.length !== prekeyBytes) return err({ type: "prekey-malformed" });
  const reader = new ByteReader(record);
  if (reader.u8() !== protocolVersion) return err({ type: "prekey-malformed" });
  const content: PrekeyContent = {
    deviceId: reader.take(16),
    notBeforeMs: reader.u64(),
    publicKey: reader.take(xwingPublicKeyBytes),
  };
  if (!equalBytes(content.deviceId, owner.deviceId)) return err({ type: "prekey-device" });
  const unsigned = record.subarray(0, prekeyBytes - signatureBytes);
  const signature = record.subarray(prekeyBytes - signatureBytes);
  if (!verify(owner.dsk, signature, label, owner.aik, unsigned)) {
    return err({ type: "prekey-signature" });
  }
  return ok({ ...content, record: record.slice(), id: prekeyId(content.publicKey) });
}

/** Whether a sender may seal to a prekey now. Units: ms, relay time. */
export function prekeyAge(
  prekey: PrekeyContent,
  relayNowMs: number,
): "usable" | "stale" | "future" {
  const notBeforeMs = clampU64(prekey.notBeforeMs);
  if (notBeforeMs > relayNowMs + maxPrekeyLeadMs) return "future";
  return relayNowMs - notBeforeMs > maxPrekeyAgeMs ? "stale" : "usable";
}
