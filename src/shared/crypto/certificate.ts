/**
 * The device certificate: the account's word that a signing key is one of its devices. It travels
 * inside every sealed message, so that a message can be verified without asking anyone.
 *
 * Spec: docs/protocol.md "Records" (certificate: 156 bytes, label `PX1 device-cert`).
 */
import { ByteReader, concat, u32, u64 } from "../bytes.ts";
import { err, ok, type Result } from "../result.ts";
import { sign, signatureBytes, verify } from "./sodium.ts";

const label = "PX1 device-cert";

/** Bytes of a certificate. */
export const certificateBytes = 156;

/** What an account certifies when a device joins. */
export interface CertificateContent {
  readonly aik: Uint8Array;
  readonly deviceId: Uint8Array;
  readonly dsk: Uint8Array;
  readonly listVersion: number;
  readonly issuedMs: bigint;
}

/** A certificate whose signature was verified. */
export interface Certificate extends CertificateContent {
  readonly record: Uint8Array;
}

/** Signs a certificate with the account's private key. */
export function signCertificate(
  content: CertificateContent,
  aikPrivateKey: Uint8Array,
): Certificate {
  const unsigned = concat(
    content.aik,
    content.deviceId,
    content.dsk,
    u32(content.listVersion),
    u64(content.issuedMs),
  );
  return { ...content, record: concat(unsigned, sign(aikPrivateKey, label, unsigned)) };
}

/** Parses and verifies a certificate. Whose account it names is for the caller to judge. */
export function parseCertificate(
  record: Uint8Array,
): Result<Certificate, { readonly type: "certificate" }> {
  if (record.length !== certificateBytes) return err({ type: "certificate" });
  const reader = new ByteReader(record);
  const content: CertificateContent = {
    aik: reader.take(32),
    deviceId: reader.take(16),
    dsk: reader.take(32),
    listVersion: reader.u32(),
    issuedMs: reader.u64(),
  };
  const unsigned = record.subarray(0, certificateBytes - signatureBytes);
  const signature = record.subarray(certificateBytes - signatureBytes);
  if (!verify(content.aik, signature, label, unsigned)) return err({ type: "certificate" });
  return ok({ ...content, record: record.slice() });
}
