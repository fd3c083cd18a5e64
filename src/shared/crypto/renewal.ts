/**
 * The renewal: an account's old and new identity key both say that the new one takes over. It ends
 * the authority of a removed admin device, which still holds the old key.
 *
 * Spec: docs/protocol.md "Records" (renewal: 236 bytes, label `PX1 renewal`, both signatures over the first
 * 108 bytes).
 */
import { ByteReader, concat, u32, u64 } from "../bytes.ts";
import { err, ok, type Result } from "../result.ts";
import { sign, type SigningKeyPair, signatureBytes, verify } from "./sodium.ts";

const label = "PX1 renewal";
const unsignedBytes = 108;

/** Bytes of a renewal. */
export const renewalBytes = 236;

/** What both keys sign. */
export interface RenewalContent {
  readonly oldAik: Uint8Array;
  readonly newAik: Uint8Array;
  readonly oldListVersion: number;
  readonly oldListHash: Uint8Array;
  readonly issuedMs: bigint;
}

/** A renewal whose two signatures were verified. */
export interface Renewal extends RenewalContent {
  readonly record: Uint8Array;
}

/** Signs a renewal with both keys. */
export function signRenewal(
  content: Omit<RenewalContent, "oldAik" | "newAik">,
  oldKey: SigningKeyPair,
  newKey: SigningKeyPair,
): Renewal {
  const full = { ...content, oldAik: oldKey.publicKey, newAik: newKey.publicKey };
  const unsigned = concat(
    full.oldAik,
    full.newAik,
    u32(full.oldListVersion),
    full.oldListHash,
    u64(full.issuedMs),
  );
  const record = concat(
    unsigned,
    sign(oldKey.privateKey, label, unsigned),
    sign(newKey.privateKey, label, unsigned),
  );
  return { ...full, record };
}

/** Parses a renewal and verifies both signatures. */
export function parseRenewal(record: Uint8Array): Result<Renewal, { readonly type: "renewal" }> {
  if (record.length !== renewalBytes) return err({ type: "renewal" });
  const reader = new ByteReader(record);
  const content: RenewalContent = {
    oldAik: reader.take(32),
    newAik: reader.take(32),
    oldListVersion: reader.u32(),
    oldListHash: reader.take(32),
    issuedMs: reader.u64(),
  };
  const unsigned = record.subarray(0, unsignedBytes);
  const byOld = reader.take(signatureBytes);
  const byNew = reader.take(signatureBytes);
  if (
    !verify(content.oldAik, byOld, label, unsigned) ||
    !verify(content.newAik, byNew, label, unsigned)
  ) {
    return err({ type: "renewal" });
  }
  return ok({ ...content, record: record.slice() });
}
